import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  assertTokenizerFits,
  ChatTemplate,
  loadTokenizer,
  mergeLora,
  parseLoraName,
  readModelConfig,
  readModelWeights,
  readPeftAdapter,
  type HostTensor,
  type LlamaConfig,
  type Tokenizer,
} from '@hindcast/language-model';
import { CONFIG, Log } from '@hindcast/platform';
import type { EngineConfig } from './config';
import { RequestError } from './core/request-error';
import { tokenTextOf, type TokenText } from './core/token-text';
import type { ModelCard } from './core/vllm-shapes';
import { ForwardPass } from './forward-pass';

/** What all models of this engine share: they differ in their weights only. */
export interface Language {
  readonly config: LlamaConfig;
  readonly tokenizer: Tokenizer;
  readonly text: TokenText;
  /** Bytes of the longest token. */
  readonly maxTokenBytes: number;
  readonly template: ChatTemplate;
}

/** Weights in use by requests; freed once they are retired and the last request is through. */
export class WeightsLease {
  private users = 0;
  private isRetired = false;

  constructor(readonly forward: ForwardPass) {}

  /** Keeps the weights until the returned function is called. */
  take(): () => void {
    this.users++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.users--;
      this.freeIfUnused();
    };
  }

  retire(): void {
    this.isRetired = true;
    this.freeIfUnused();
  }

  private freeIfUnused(): void {
    if (this.isRetired && this.users === 0) void this.forward.release();
  }
}

interface Served {
  readonly card: ModelCard;
  readonly weights: WeightsLease;
}

/** The base model and the adapters that are loaded, by name. */
@Injectable()
export class ServedModels {
  private loaded: { language: Language; base: Served; baseWeights: ReadonlyMap<string, HostTensor> } | null = null;
  private readonly adapters = new Map<string, Served>();
  private loading: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(CONFIG) private readonly config: EngineConfig,
    private readonly log: Log,
  ) {}

  /** Reads the base model. Until then nothing is served. */
  async load(): Promise<void> {
    const { MODEL_DIR: root, SERVED_MODEL_NAME: id, THREADS: threads } = this.config;
    const config = await readModelConfig(root);
    await assertTokenizerFits(root, config);
    const [baseWeights, tokenizer, template] = await Promise.all([
      readModelWeights(root, config),
      loadTokenizer(root),
      ChatTemplate.load(root),
    ]);
    const forward = await ForwardPass.create(config, baseWeights, threads);
    const card = { id, root, parent: null, created: nowSeconds(), maxModelLength: config.maxPositions };
    const text = tokenTextOf(tokenizer, config.vocabSize);
    let maxTokenBytes = 1;
    for (let id = 0; id < config.vocabSize; id++) maxTokenBytes = Math.max(maxTokenBytes, text.tokenBytes(id).length);
    this.loaded = {
      language: { config, tokenizer, text, maxTokenBytes, template },
      base: { card, weights: new WeightsLease(forward) },
      baseWeights,
    };
    this.log.info('model.loaded', { model: id, root });
  }

  get language(): Language {
    return this.ready().language;
  }

  /** The model of that name; without a name the base model. */
  find(name: string | null): Served {
    const { base } = this.ready();
    if (name === null || name === base.card.id) return base;
    const adapter = this.adapters.get(name);
    if (!adapter) throw new RequestError('NotFoundError', `The model \`${name}\` does not exist.`, 'model');
    return adapter;
  }

  list(): ModelCard[] {
    return [this.ready().base, ...this.adapters.values()].map(({ card }) => card);
  }

  get adapterNames(): string[] {
    return [...this.adapters.keys()];
  }

  /** Loads a PEFT directory under a name, one at a time; requests in flight go on. */
  async loadAdapter(name: string, path: string, inPlace: boolean): Promise<void> {
    const turn = this.loading.then(() => this.loadNow(name, path, inPlace));
    this.loading = turn.catch(() => undefined);
    await turn;
  }

  /** Requests that began on the adapter finish on it. */
  unloadAdapter(name: string): void {
    const adapter = this.adapters.get(name);
    if (!adapter) throw new RequestError('NotFoundError', `The lora adapter '${name}' cannot be found.`);
    this.adapters.delete(name);
    adapter.weights.retire();
    this.log.info('adapter.unloaded', { adapter: name });
  }

  private async loadNow(name: string, root: string, inPlace: boolean): Promise<void> {
    const { language, base, baseWeights } = this.ready();
    const old = this.adapters.get(name);
    if (name === base.card.id || (old && !inPlace))
      throw new RequestError(
        'InvalidUserInput',
        `The lora adapter '${name}' has already been loaded. If you want to load the adapter in place, set 'load_inplace' to True.`,
      );
    if (!old && this.adapters.size >= this.config.MAX_LORAS)
      throw new RequestError(
        'BadRequestError',
        `Loading lora ${name} failed: ${this.adapters.size} adapters are loaded, and MAX_LORAS is ${this.config.MAX_LORAS}. Unload one first.`,
      );
    const weights = new WeightsLease(await this.adaptedWeights(name, root, language.config, baseWeights));
    this.adapters.set(name, {
      card: { id: name, root, parent: base.card.id, created: nowSeconds(), maxModelLength: null },
      weights,
    });
    old?.weights.retire();
    this.log.info('adapter.loaded', { adapter: name, root });
  }

  private async adaptedWeights(
    name: string,
    root: string,
    config: LlamaConfig,
    baseWeights: ReadonlyMap<string, HostTensor>,
  ): Promise<ForwardPass> {
    if (!existsSync(join(root, 'adapter_config.json')))
      throw new RequestError('NotFoundError', `Loading lora ${name} failed: No adapter found for ${root}`);
    try {
      const merged = await mergeGently(baseWeights, await readPeftAdapter(root, config));
      return await ForwardPass.create(config, merged, this.config.THREADS);
    } catch (error) {
      this.log.warn('adapter.failed', { adapter: name, root, error });
      const why = error instanceof Error ? error.message : String(error);
      throw new RequestError('BadRequestError', `Loading lora ${name} failed: ${why}`);
    }
  }

  private ready(): NonNullable<typeof this.loaded> {
    if (!this.loaded) throw new Error('the model is not loaded yet');
    return this.loaded;
  }
}

/** Merges matrix by matrix and lets waiting requests through in between. */
async function mergeGently(
  base: ReadonlyMap<string, HostTensor>,
  { tensors, scale }: { readonly tensors: ReadonlyMap<string, HostTensor>; readonly scale: number },
): Promise<Map<string, HostTensor>> {
  const pairs = new Map<string, Map<string, HostTensor>>();
  for (const [name, tensor] of tensors) {
    const module = parseLoraName(name)?.module ?? name;
    pairs.set(module, (pairs.get(module) ?? new Map<string, HostTensor>()).set(name, tensor));
  }
  let merged = new Map(base);
  for (const pair of pairs.values()) {
    merged = mergeLora(merged, pair, scale);
    await nextTurn();
  }
  return merged;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
