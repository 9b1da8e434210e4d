import { completedAnswers, hasSubstance, usageOf, type CompletedAnswer, type Usage } from './answer';
import { ChoiceAssembler } from './choice-assembler';
import type { TokenEvent } from './token-events';
import { choiceIds, extensionIds, promptIdsIn, type Numbers } from './token-ids';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Puts the chunks of a streamed answer together, whose choices may come interleaved. */
export class ChunkAssembler {
  private responseId: string | null = null;
  private model: string | null = null;
  private readonly choices = new Map<number, ChoiceAssembler>();
  private promptIds: Numbers | null = null;
  private usage: Usage | null = null;
  /** Sampled tokens as the chunks show them: by their ids, else one for each piece that says something. */
  tokensSeen = 0;

  /** Whether the choices `0` to `expected − 1` have their finish reason. Others that the engine sends do not count. */
  isFinished(expected: number): boolean {
    for (let index = 0; index < expected; index++) if (!this.choices.get(index)?.isFinished) return false;
    return true;
  }
  get hasStarted(): boolean {
    return this.responseId !== null || this.choices.size > 0;
  }

  add(chunk: Json): void {
    if (this.responseId === null && typeof chunk['id'] === 'string' && chunk['id'] !== '')
      this.responseId = chunk['id'];
    if (this.model === null && typeof chunk['model'] === 'string') this.model = chunk['model'];
    this.usage = usageOf(chunk['usage']) ?? this.usage;
    this.promptIds ??= promptIdsIn(chunk, null);
    if (isObject(chunk['sglext'])) this.addExtension(chunk);
    for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'] : [])
      if (isObject(choice)) this.addChoice(choice);
  }

  /** The same for an event that was not parsed. */
  addTokens({ index, content, ids, logProbs }: TokenEvent): void {
    this.tokensSeen += ids.length;
    this.choice(index).addTokens(content, ids, logProbs);
  }

  private addChoice(choice: Json): void {
    this.promptIds ??= promptIdsIn({}, choice);
    this.tokensSeen += tokensIn(choice);
    this.choice(typeof choice['index'] === 'number' ? choice['index'] : 0).add(choice);
  }

  /** SGLang gives all ids of a stream at once, after its last choice. */
  private addExtension(chunk: Json): void {
    for (const [index, choice] of this.choices) choice.addIds(extensionIds(chunk, index));
  }

  private choice(index: number): ChoiceAssembler {
    let known = this.choices.get(index);
    if (!known) this.choices.set(index, (known = new ChoiceAssembler()));
    return known;
  }

  /** The choices `0` to `expected − 1`, as far as they came. */
  answers(expected: number): CompletedAnswer[] {
    const { responseId, model, promptIds, usage } = this;
    const choices = new Map([...this.choices].map(([index, choice]) => [index, choice.answer()]));
    return completedAnswers({ responseId, model, promptIds, usage }, choices, expected);
  }
}

const tokensIn = (choice: Json): number =>
  choiceIds(choice)?.length ?? (isObject(choice['delta']) && hasSubstance(choice['delta']) ? 1 : 0);
