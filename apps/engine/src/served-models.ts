import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
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
import { WeightsLease } from './weights-lease';

/** What all models of this engine share: they differ in their weights only. */
export interface Language {
  readonly config: LlamaConfig;
  readonly tokenizer: Tokenizer;
  readonly text: TokenText;
  /** Bytes of the longest token. */
  readonly maxTokenBytes: number;
  readonly template: ChatTemplate;
}

interface Served {
  readonly card: ModelCard;
  readonly weights: WeightsLease;
}

/** What is loaded under a name beside the base model: an adapter, or whole weights. */
type Kind = 'adapter' | 'weights';
type Loaded = Served & { readonly kind: Kind };
const WORDS: Readonly<Record<Kind, string>> = { adapter: 'lora adapter', weights: 'set of weights' };

/** The base model, and the adapters and whole weights that are loaded, by name. */
@Injectable()
export class ServedModels {
  private loaded: { language: Language; base: Served; baseWeights: ReadonlyMap<string, HostTensor> } | null = null;
  private readonly adapters = new Map<string, Loaded>();
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
    const card = {
      id,
      root,
      parent: null,
      created: nowSeconds(),
      maxModelLength: config.maxPositions,
      loadsWeights: true,
    };
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
    await this.inTurn(() => this.loadNow('adapter', name, path, inPlace));
  }

  /** Loads a model directory of the base model's architecture under a name, one at a time; requests in flight go on. */
  async loadWeights(name: string, path: string): Promise<void> {
    await this.inTurn(() => this.loadNow('weights', name, path, false));
  }

  /** Requests that began on it finish on it. */
  unload(name: string, kind: Kind): void {
    const loaded = this.adapters.get(name);
    if (loaded?.kind !== kind) throw new RequestError('NotFoundError', `The ${WORDS[kind]} '${name}' cannot be found.`);
    this.adapters.delete(name);
    loaded.weights.retire();
    this.log.info(`${kind}.unloaded`, { name });
  }

  private async inTurn(load: () => Promise<void>): Promise<void> {
    const turn = this.loading.then(load);
    this.loading = turn.catch(() => undefined);
    await turn;
  }

  private async loadNow(kind: Kind, name: string, root: string, inPlace: boolean): Promise<void> {
    const { base } = this.ready();
    const old = this.adapters.get(name);
    if (name === base.card.id || (old && !inPlace))
      throw new RequestError(
        'InvalidUserInput',
        `The ${WORDS[kind]} '${name}' has already been loaded.${kind === 'adapter' ? " If you want to load the adapter in place, set 'load_inplace' to True." : ''}`,
      );
    if (!old && this.adapters.size >= this.config.MAX_LORAS)
      throw new RequestError(
        'BadRequestError',
        `Loading ${nounOf(kind)} ${name} failed: ${this.adapters.size} adapters are loaded, and MAX_LORAS is ${this.config.MAX_LORAS}. Unload one first.`,
      );
    const forward = kind === 'adapter' ? await this.adapted(name, root) : await this.whole(name, root);
    const weights = new WeightsLease(forward);
    this.adapters.set(name, {
      kind,
      card: { id: name, root, parent: base.card.id, created: nowSeconds(), maxModelLength: null },
      weights,
    });
    old?.weights.retire();
    this.log.info(`${kind}.loaded`, { name, root });
  }

  private async adapted(name: string, root: string): Promise<ForwardPass> {
    const { language, baseWeights } = this.ready();
    const { config } = language;
    if (!existsSync(join(root, 'adapter_config.json')))
      throw new RequestError('NotFoundError', `Loading lora ${name} failed: No adapter found for ${root}`);
    return await this.passOf('adapter', name, root, async () =>
      mergeGently(baseWeights, await readPeftAdapter(root, config)),
    );
  }

  private async whole(name: string, root: string): Promise<ForwardPass> {
    const { config } = this.ready().language;
    if (!existsSync(join(root, 'config.json')))
      throw new RequestError('NotFoundError', `Loading weights ${name} failed: No model found for ${root}`);
    return await this.passOf('weights', name, root, async () => {
      const own = await readModelConfig(root);
      if (!isDeepStrictEqual(own, config))
        throw new RangeError('its config.json describes another model than the base model’s');
      return await readModelWeights(root, config);
    });
  }

  private async passOf(
    kind: Kind,
    name: string,
    root: string,
    read: () => Promise<ReadonlyMap<string, HostTensor>>,
  ): Promise<ForwardPass> {
    try {
      return await ForwardPass.create(this.ready().language.config, await read(), this.config.THREADS);
    } catch (error) {
      this.log.warn(`${kind}.failed`, { name, root, error });
      const why = error instanceof Error ? error.message : String(error);
      throw new RequestError('BadRequestError', `Loading ${nounOf(kind)} ${name} failed: ${why}`);
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

/** As vLLM's messages have it. */
const nounOf = (kind: Kind): string => (kind === 'adapter' ? 'lora' : 'weights');

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
