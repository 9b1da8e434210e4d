import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log, type LogContext, type Span } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { engineModelName } from './core/engine-request';
import { choosePolicy } from './core/policy-choice';
import { adapterVersion, answeredVersion, fallbackAdapter, routeModel, type ListedModel } from './core/route-model';
import type { WeightsLabel } from './core/weights-label';
import { unlessAborted, type StopSignal } from './abort';
import { sha256 } from './answer-recorder';
import { EngineAttempts, letGo, type Errand, type RoutedResponse } from './engine-attempts';
import { EngineModels } from './engine-models';
import { EngineWeights } from './engine-weights';
import { GatewayMetrics } from './gateway-metrics';
import { PolicyWatch } from './policy-watch';

export type { RoutedResponse } from './engine-attempts';

export interface CallOptions {
  /** Path below an engine's base URL. Default: `chat/completions`. */
  readonly path?: string;
  /** The model named is the one to ask, listed or not; without a name the base model. Default: the current version answers for an unlisted one. */
  readonly onlyAsNamed?: boolean;
  /** Of the lines that are logged about the call. */
  readonly ids?: LogContext;
  /** What the calls to engines are part of. */
  readonly span?: Span;
  /** What stays the same in a conversation, so that it stays on one version while another is on trial. */
  readonly stickyTo?: string;
}

/** A response with what its version is known by. */
export interface RoutedAnswer extends RoutedResponse {
  /** Labels of the engines' weights before the request was sent; `null` where every name has its own weights. */
  readonly weights: ReadonlyMap<string, WeightsLabel> | null;
}

/** Version of an answer; `null` when no model of ours gave it, or when the `weights` behind the name may have been replaced. */
export type AnswerVersion =
  { readonly version: number } | { readonly version: null; readonly why: 'model' | 'weights' };

/** The same values, none of them a promise. */
type Known<Values> = { [Index in keyof Values]: Awaited<Values[Index]> };

/** Decides which engine and model answer a request. */
@Injectable()
export class PolicyRouter {
  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly attempts: EngineAttempts,
    private readonly models: EngineModels,
    private readonly policy: PolicyWatch,
    private readonly weights: EngineWeights,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {}

  /**
   * @throws HindcastError `model-not-found`, or `engine-…` when no engine answers
   * @throws EnginesAway when none is asked
   */
  async call(
    requested: string | null,
    body: object,
    headers: Readonly<Record<string, unknown>>,
    signal: StopSignal,
    { path = 'chat/completions', onlyAsNamed = false, ids, span, stickyTo }: CallOptions = {},
  ): Promise<RoutedAnswer> {
    const needed = [this.models.listed(requested), this.policy.known(), this.weightsBefore()] as const;
    // Nearly always it is, and then no request waits a turn of the promises' queue for it.
    const isKnown = !needed.some((value) => value instanceof Promise);
    const [listed, policy, weights] = isKnown
      ? (needed as Known<typeof needed>)
      : await unlessAborted(Promise.all(needed), signal);
    const { adapter, engines } = choosePolicy(policy, stickyTo ?? null, sha256);
    const route = routeModel(requested, listed, onlyAsNamed ? requested : adapter, this.isStrict(listed));
    if (!route.found) throw new HindcastError('model-not-found', `the model '${requested}' does not exist`);
    const model = this.engineName(route.asNamed ?? route.adapter, listed);
    const wish =
      route.asNamed === null
        ? { holders: new Set(engines.map((url) => url.replace(/\/+$/, ''))), onlyHolders: false }
        : { holders: this.models.holders(route.asNamed), onlyHolders: true };
    const errand: Errand = { path, body, model, headers, signal, ids, span };
    const routed = await this.attempts.answer(wish, errand);
    const isMissing = !onlyAsNamed && (await this.isAdapterMissing(routed, signal));
    return { ...(isMissing ? await this.fallBack(routed, errand) : routed), weights };
  }

  /** vLLM answers 404 for an adapter that it does not know; SGLang 400, as for any bad request, so its list decides. */
  private async isAdapterMissing({ response, engine, model }: RoutedResponse, signal: StopSignal): Promise<boolean> {
    const version = adapterVersion(model);
    if (version === null || response.statusCode === 404) return version !== null;
    if (this.config.POLICY_DIALECT !== 'sglang' || response.statusCode !== 400) return false;
    const list = await unlessAborted(this.models.refresh(engine), signal);
    return list !== null && !list.listed.some(({ id }) => adapterVersion(id) === version);
  }

  /** Policy version of an answer that is over. */
  async version(routed: RoutedAnswer, answeredModel: string | null): Promise<AnswerVersion> {
    const { model, engine, weights } = routed;
    const { POLICY_MODEL: base } = this.config;
    const named = answeredVersion(model, answeredModel, base, this.models.listedBy(engine));
    if (named === null) return { version: null, why: 'model' };
    // A name of its own has weights of its own.
    if (named !== 0 || (weights === null && !this.weights.mayMove)) return { version: named };
    const version = weights && (await this.weights.versionOf(engine, weights));
    return version === null ? { version, why: 'weights' } : { version };
  }

  private weightsBefore(): Promise<RoutedAnswer['weights']> | null {
    return this.weights.mayMove ? this.weights.before(this.config.POLICY_BASE_URL) : null;
  }

  private engineName(name: string | null, listed: readonly ListedModel[]): string {
    const { POLICY_DIALECT, POLICY_MODEL } = this.config;
    const isAdapter =
      name !== null &&
      (adapterVersion(name) !== null || listed.some(({ id, parent }) => id === name && parent !== null));
    return name !== null && !isAdapter ? name : engineModelName(POLICY_DIALECT, POLICY_MODEL, name);
  }

  private isStrict(listed: readonly ListedModel[]): boolean {
    return this.config.STRICT_MODEL && listed.length > 0;
  }

  /** The engine lacks the adapter, as after its restart: its newest version, or the base model, answers instead. */
  private async fallBack(missed: RoutedResponse, errand: Errand): Promise<RoutedResponse> {
    letGo(missed);
    missed.release();
    await unlessAborted(this.models.refresh(missed.engine), errand.signal);
    const loaded = this.models.listedBy(missed.engine);
    const model = this.engineName(fallbackAdapter(loaded, missed.model), loaded);
    this.metrics.modelFallback();
    this.log.warn('engine.adapter-missing', {
      ...errand.ids,
      engine: missed.engine,
      missing: missed.model,
      answering: model,
    });
    return this.attempts.once(missed.engine, { ...errand, model });
  }
}
