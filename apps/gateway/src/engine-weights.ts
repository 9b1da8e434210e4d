import { Injectable } from '@nestjs/common';
import { NO_LABELS, weightsVersion, type WeightsLabel } from './core/weights-label';
import { EngineClient } from './engine-client';
import { PolicyWatch } from './policy-watch';

const FRESH_MS = 5_000;

/** What an engine said when it was last asked; `undefined`: nothing. */
interface Known {
  readonly label: WeightsLabel | undefined;
  readonly at: number;
}

/**
 * Which weights stand behind the base model's name of an engine, where a trainer replaces them (TUNING=full with vLLM or SGLang). The
 * engine itself is asked: the board is a moment behind it, or away.
 */
@Injectable()
export class EngineWeights {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly client: EngineClient,
    private readonly policy: PolicyWatch,
  ) {}

  /** Whether the base model's name alone does not say which weights answer. Before the board was ever read nobody can tell. */
  get mayMove(): boolean {
    return !this.policy.isKnown || this.policy.current.weights === 'replaced';
  }

  /** Labels from before a request is sent; an engine that could not say has none. An old one is as good: a new one would differ in the end. */
  async before(engines: readonly string[]): Promise<ReadonlyMap<string, WeightsLabel>> {
    const labels = new Map<string, WeightsLabel>();
    await Promise.all(
      engines.map(async (engine) => {
        const known = this.known.get(engine);
        if (!known) await this.ask(engine);
        else if (Date.now() - known.at > FRESH_MS) void this.ask(engine);
        const label = this.known.get(engine)?.label;
        if (label !== undefined) labels.set(engine, label);
      }),
    );
    return labels;
  }

  /** Version of an answer that has ended; `null` where the weights may have moved while it was given. */
  async versionOf(engine: string, before: ReadonlyMap<string, WeightsLabel>): Promise<number | null> {
    const label = before.get(engine);
    const after = label === NO_LABELS ? label : await this.ask(engine);
    return label === undefined || after === undefined ? null : weightsVersion(label, after, this.policy.current);
  }

  private async ask(engine: string): Promise<WeightsLabel | undefined> {
    const label = await this.client.weightsLabel(engine).catch(() => undefined);
    this.known.set(engine, { label, at: Date.now() });
    return label;
  }
}
