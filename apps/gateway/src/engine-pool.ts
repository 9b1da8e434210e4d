import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, Health, Log, Metrics } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import {
  abandoned,
  admits,
  answered,
  closedCircuit,
  completed,
  entered,
  failed,
  foundHealthy,
  type Circuit,
  type CircuitSettings,
  type FailureKind,
} from './core/circuit';
import { engineOrder, type EngineWish } from './core/engine-order';
import { EngineClient, engineError, failureKind } from './engine-client';
import type { EngineResponse } from './engine-exchange';

/** Health checks in a row that must fail by silence: a busy engine may miss one. */
const SILENT_CHECKS = 2;
const CIRCUIT_LEVEL = { closed: 0, 'half-open': 1, open: 2 } as const;

interface Engine {
  readonly url: string;
  readonly label: string;
  inFlight: number;
  circuit: Circuit;
  isHealthy: boolean;
  silentChecks: number;
  isChecking: boolean;
}

/** How an engine is, for a person to look at. */
export interface EngineState {
  /** Base URL without what may be secret in it. */
  readonly shownUrl: string;
  /** One of POLICY_BASE_URL. */
  readonly url: string;
  /** What is wrong with it; `null` while nothing is. */
  readonly problem: string | null;
}

/** One call's place at an engine. */
export interface EnginePlace {
  readonly engine: string;
  /** The engine's answer began; the place watches its body to the end. */
  answered(response: EngineResponse): void;
  failed(kind: FailureKind): void;
  /** The call is over, whatever came of it. Further calls of it do nothing. */
  release(): void;
}

/** Knows how busy, healthy and reliable each engine is, and gives out places at the best. */
@Injectable()
export class EnginePool implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly engines: readonly Engine[];
  private readonly settings: CircuitSettings;
  private timer: NodeJS.Timeout | null = null;
  private turn = 0;

  constructor(
    @Inject(CONFIG) private readonly config: GatewayConfig,
    private readonly client: EngineClient,
    private readonly log: Log,
    health: Health,
    metrics: Metrics,
  ) {
    this.settings = { threshold: config.POLICY_BREAKER_FAILURES, pauseMs: config.POLICY_BREAKER_PAUSE_MS };
    this.engines = [...new Set(config.POLICY_BASE_URL)].map((url) => ({
      url,
      label: labelOf(url),
      inFlight: 0,
      circuit: closedCircuit,
      isHealthy: true,
      silentChecks: 0,
      isChecking: false,
    }));
    for (const engine of this.engines)
      health.addOptionalCheck(`engine ${engine.label}`, () => {
        const problem = problemOf(engine);
        if (problem !== null) throw new Error(problem);
      });
    this.measure(metrics);
  }

  onApplicationBootstrap(): void {
    this.checkAll();
    this.timer = setInterval(() => this.checkAll(), this.config.POLICY_HEALTH_MS).unref();
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  states(): readonly EngineState[] {
    return this.engines.map((engine) => ({
      url: engine.url,
      shownUrl: shownUrl(engine.url),
      problem: problemOf(engine),
    }));
  }

  /** The engine that {@link take} would choose; `null` when the circuits of all are open. */
  next(wish: EngineWish): string | null {
    return this.inOrder(wish)[0] ?? null;
  }

  take(wish: EngineWish): EnginePlace | null {
    const url = this.next(wish);
    this.turn++;
    return url === null ? null : this.placeAt(url);
  }

  /** @param url one of POLICY_BASE_URL */
  placeAt(url: string): EnginePlace {
    const engine = this.engines.find((candidate) => candidate.url === url)!;
    const isTry = engine.circuit.state !== 'closed';
    this.move(engine, entered(engine.circuit, now(), this.settings));
    engine.inFlight++;
    let isOver = false;
    let isHeard = false;
    const fail = (kind: FailureKind): void => {
      isHeard = true;
      this.move(engine, failed(engine.circuit, kind, now(), this.settings));
      // Nothing listens there: the others go first until a health check finds it again.
      if (kind === 'unreachable') this.mark(engine, false);
    };
    const release = (): void => {
      if (isOver) return;
      isOver = true;
      engine.inFlight--;
      if (isTry && !isHeard) this.move(engine, abandoned(engine.circuit, now()));
    };
    return {
      engine: url,
      answered: ({ body }) => {
        isHeard = true;
        this.move(engine, answered(engine.circuit));
        body.onOver((error) => {
          release();
          if (!error) this.move(engine, completed(engine.circuit));
          // A client that went away says nothing of the engine.
          else if (isFromEngine(error)) fail(failureKind(engineError(error)));
        });
      },
      failed: fail,
      release,
    };
  }

  /** How long until an engine may be tried again, milliseconds. */
  waitMs(): number {
    const untils = this.engines.map(({ circuit }) => (circuit.state === 'closed' ? 0 : circuit.until));
    return Math.max(0, Math.min(...untils) - now());
  }

  private inOrder(wish: EngineWish): readonly string[] {
    const shift = this.turn % this.engines.length;
    const views = [...this.engines.slice(shift), ...this.engines.slice(0, shift)].map((engine) => ({
      engine: engine.url,
      isOpenForRequests: admits(engine.circuit, now()),
      isHealthy: engine.isHealthy,
      inFlight: engine.inFlight,
    }));
    return engineOrder(views, wish);
  }

  private checkAll(): void {
    for (const engine of this.engines) if (!engine.isChecking) void this.check(engine);
  }

  /** A status below 500 is an engine that answers, even where it knows no health check. */
  private async check(engine: Engine): Promise<void> {
    engine.isChecking = true;
    const { circuit } = engine;
    try {
      const status = await this.client.health(engine.url);
      engine.silentChecks = 0;
      this.mark(engine, status < 500);
      // Only what it did before the check began is disproved.
      if (status < 500 && engine.circuit === circuit) this.move(engine, foundHealthy(circuit));
    } catch (error) {
      const isSilent = failureKind(engineError(error)) === 'timeout';
      engine.silentChecks = isSilent ? engine.silentChecks + 1 : SILENT_CHECKS;
      if (engine.silentChecks >= SILENT_CHECKS) this.mark(engine, false);
    } finally {
      engine.isChecking = false;
    }
  }

  private mark(engine: Engine, isHealthy: boolean): void {
    if (engine.isHealthy === isHealthy) return;
    engine.isHealthy = isHealthy;
    this.log[isHealthy ? 'info' : 'warn'](isHealthy ? 'engine.healthy' : 'engine.unhealthy', { engine: engine.label });
  }

  private move(engine: Engine, circuit: Circuit): void {
    const before = engine.circuit.state;
    engine.circuit = circuit;
    if (before === circuit.state) return;
    const level = circuit.state === 'open' ? 'warn' : 'info';
    this.log[level]('engine.circuit', { engine: engine.label, state: circuit.state });
  }

  private measure(metrics: Metrics): void {
    const gauge = (name: string, help: string, value: (engine: Engine) => number): void =>
      void metrics.gauge(name, help, ['engine'], (one) => {
        for (const engine of this.engines) one.set({ engine: engine.label }, value(engine));
      });
    gauge('engine_in_flight', 'Requests under way at an engine', ({ inFlight }) => inFlight);
    gauge('engine_healthy', 'Whether an engine passes its health check', ({ isHealthy }) => (isHealthy ? 1 : 0));
    gauge(
      'engine_breaker',
      'Circuit of an engine: 0 closed, 1 half-open, 2 open',
      ({ circuit }) => CIRCUIT_LEVEL[circuit.state],
    );
  }
}

const now = (): number => performance.now();

function problemOf({ isHealthy, circuit }: Engine): string | null {
  if (!isHealthy) return 'fails its health check';
  return circuit.state === 'closed' ? null : 'failed too often and is left alone for a moment';
}

function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** An engine's address without what may be secret in it. */
function labelOf(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname.replace(/\/v1$/, '').replace(/\/$/, '');
}

const isFromEngine = (error: Error): boolean =>
  (error as { code?: unknown }).code !== undefined && error.name !== 'AbortError';
