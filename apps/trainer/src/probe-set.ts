import { join } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { ChatTemplate, loadTokenizer, writeAtomically } from '@hindcast/language-model';
import { CollectedPrompts, ProbePromptsFile, collectPrompts, conversations } from './core/probe-prompts';
import { readJsonIfPresent } from './durable-file';

export interface ProbeSetOptions {
  readonly modelDir: string;
  readonly policyDir: string;
  /** File of questions that must be there, or `undefined` for `probe_prompts.json` of the model, if there. */
  readonly file: string | undefined;
  /** Prompts collected at most where there is no file. */
  readonly limit: number;
  /** A prompt longer than this leaves no room for an answer. */
  readonly maxPromptTokens: number;
}

/** The fixed prompts on which a new version's distance from the base model is measured, as token ids. */
export class ProbeSet {
  private constructor(
    private readonly options: ProbeSetOptions,
    private readonly isFixed: boolean,
    private prompts: readonly (readonly number[])[],
  ) {}

  /** @throws HindcastError `config-invalid` for a file that is not to be had, or where no prompt could ever be used: the bounds would say nothing */
  static async open(options: ProbeSetOptions): Promise<ProbeSet> {
    if (options.limit > 0 && options.maxPromptTokens < 1)
      throw new HindcastError(
        'config-invalid',
        "PROBE_MAX_TOKENS: as many as the model's positions leave no room for a prompt",
      );
    const path = options.file ?? join(options.modelDir, 'probe_prompts.json');
    const file = await readJsonIfPresent(path, ProbePromptsFile).catch((cause: unknown) => {
      throw new HindcastError('config-invalid', (cause as Error).message, { cause });
    });
    if (file === null) {
      if (options.file !== undefined)
        throw new HindcastError('config-invalid', `PROBE_PROMPTS_FILE: there is no ${path}`);
      const collected = await readJsonIfPresent(join(options.policyDir, 'probe-prompts.json'), CollectedPrompts);
      return new ProbeSet(options, false, collected ?? []);
    }
    const [tokenizer, template] = [await loadTokenizer(options.modelDir), await ChatTemplate.load(options.modelDir)];
    const ids = conversations(file).map((messages) => tokenizer.encode(template.render(messages)));
    const fitting = ids.filter((prompt) => prompt.length <= options.maxPromptTokens);
    if (options.limit > 0 && fitting.length === 0)
      throw new HindcastError(
        'config-invalid',
        `${path}: none of its prompts leaves room for an answer of PROBE_MAX_TOKENS`,
      );
    return new ProbeSet(options, true, fitting);
  }

  all(): readonly (readonly number[])[] {
    return this.prompts;
  }

  /** Adds prompts of a trained batch, until there are enough; a set from a file never changes. */
  async collect(prompts: readonly ArrayLike<number>[]): Promise<void> {
    if (this.isFixed || this.prompts.length >= this.options.limit) return;
    const fitting = prompts.filter(({ length }) => length <= this.options.maxPromptTokens);
    const collected = collectPrompts(
      this.prompts.map((ids) => [...ids]),
      fitting,
      this.options.limit,
    );
    await writeAtomically(join(this.options.policyDir, 'probe-prompts.json'), JSON.stringify(collected));
    this.prompts = collected;
  }
}
