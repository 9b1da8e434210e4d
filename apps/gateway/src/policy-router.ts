import { Inject, Injectable } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { engineModelName } from './core/engine-request';
import { adapterVersion, answeredVersion, fallbackAdapter, routeModel, type ListedModel } from './core/route-model';
import { EngineClient, engineError, neverArrived, type EngineResponse } from './engine-client';
import { EngineModels } from './engine-models';
import { GatewayMetrics } from './gateway-metrics';
import { PolicyWatch } from './policy-watch';

/** An engine's response, whatever its status, and who gave it. */
export interface RoutedResponse {
  readonly response: EngineResponse;
  readonly engine: string;
  /** Model name that was sent. */
  readonly model: string;
  /** Called once the answer is over. */
  readonly release: () => void;
}

/** Decides which engine and model answer a request. */
@Injectable()
export class PolicyRouter {
  private readonly inFlight = new Map<string, number>();
  private turn = 0;

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly client: EngineClient,
    private readonly models: EngineModels,
    private readonly policy: PolicyWatch,
    private readonly metrics: GatewayMetrics,
    private readonly log: Log,
  ) {}

  /** @throws HindcastError `model-not-found`, or `engine-…` when no engine answers. */
  async call(
    requested: string | null,
    body: object,
    headers: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RoutedResponse> {
    const [listed, { adapter, engines }] = await Promise.all([this.models.listed(requested), this.policy.known()]);
    const route = routeModel(requested, listed, adapter, this.config.STRICT_MODEL && listed.length > 0);
    if (!route.found) throw new HindcastError('model-not-found', `the model '${requested}' does not exist`);
    const name = this.engineName(route.asNamed ?? route.adapter, listed);
    const holders =
      route.asNamed === null
        ? engines
        : this.config.POLICY_BASE_URL.filter((engine) =>
            this.models.listedBy(engine).some(({ id }) => id === route.asNamed),
          );
    const routed = await this.callFirst(this.inOrder(holders), name, body, headers, signal);
    return (await this.isAdapterMissing(routed)) ? this.fallBack(routed, body, headers, signal) : routed;
  }

  /** vLLM answers 404 for an adapter that it does not know; SGLang 400, as for any bad request, so its list decides. */
  private async isAdapterMissing({ response, engine, model }: RoutedResponse): Promise<boolean> {
    const version = adapterVersion(model);
    if (version === null || response.statusCode === 404) return version !== null;
    if (this.config.POLICY_DIALECT !== 'sglang' || response.statusCode !== 400) return false;
    const list = await this.models.refresh(engine);
    return list !== null && !list.listed.some(({ id }) => adapterVersion(id) === version);
  }

  /** Policy version of an answer; `null` when a model that is not ours gave it. */
  version(routed: RoutedResponse, answeredModel: string | null): number | null {
    return answeredVersion(routed.model, answeredModel, this.config.POLICY_MODEL, this.models.listedBy(routed.engine));
  }

  private engineName(name: string | null, listed: readonly ListedModel[]): string {
    const { POLICY_DIALECT, POLICY_MODEL } = this.config;
    const isAdapter =
      name !== null &&
      (adapterVersion(name) !== null || listed.some(({ id, parent }) => id === name && parent !== null));
    return name !== null && !isAdapter ? name : engineModelName(POLICY_DIALECT, POLICY_MODEL, name);
  }

  /** The engine lacks the adapter, as after its restart: its newest version, or the base model, answers instead. */
  private async fallBack(
    missed: RoutedResponse,
    body: object,
    headers: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RoutedResponse> {
    await missed.response.body.dump().catch(() => undefined);
    missed.release();
    await this.models.refresh(missed.engine);
    const loaded = this.models.listedBy(missed.engine);
    const model = this.engineName(fallbackAdapter(loaded, missed.model), loaded);
    this.metrics.modelFallback();
    this.log.warn('engine.adapter-missing', { engine: missed.engine, missing: missed.model, answering: model });
    return this.callOne(missed.engine, model, body, headers, signal);
  }

  /** The next engine is asked only when the one before never got the request. */
  private async callFirst(
    engines: readonly string[],
    model: string,
    body: object,
    headers: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RoutedResponse> {
    let last: HindcastError | null = null;
    for (const engine of engines) {
      try {
        return await this.callOne(engine, model, body, headers, signal);
      } catch (error) {
        last = engineError(error);
        if (!neverArrived(last)) throw last;
        this.log.warn('engine.unreachable', { engine, error: last });
      }
    }
    throw last ?? new HindcastError('engine-unreachable', 'there is no engine');
  }

  private async callOne(
    engine: string,
    model: string,
    body: object,
    headers: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<RoutedResponse> {
    this.count(engine, 1);
    let isOver = false;
    const release = (): void => {
      if (!isOver) this.count(engine, -1);
      isOver = true;
    };
    try {
      return { response: await this.client.chat(engine, { ...body, model }, headers, signal), engine, model, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Least busy first; equals take turns. Engines that hold the model come before the others, which may have got it since. */
  private inOrder(holders: readonly string[]): string[] {
    const all = this.config.POLICY_BASE_URL;
    const shift = this.turn++ % all.length;
    const rotated = [...all.slice(shift), ...all.slice(0, shift)];
    const known = new Set(holders.map((url) => url.replace(/\/+$/, '')));
    const load = (engine: string): number =>
      (this.inFlight.get(engine) ?? 0) + (known.size > 0 && !known.has(engine) ? 1e9 : 0);
    return rotated.sort((a, b) => load(a) - load(b));
  }

  private count(engine: string, change: number): void {
    this.inFlight.set(engine, (this.inFlight.get(engine) ?? 0) + change);
  }
}
