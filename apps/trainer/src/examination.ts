import { driftNats, driftVerdict, type DriftBounds } from './core/drift';
import type { PolicyModel } from './core/policy-model';
import type { TrainedWeights } from './core/tuning';
import { promptsForAnswers } from './core/probe-prompts';
import type { EngineClient, SampledAnswer } from './engine-client';
import type { ProbeSet } from './probe-set';

/** Probe answers sampled at once, beside whatever the engine is serving. */
const PARALLEL_PROBES = 8;

export interface ExaminationOptions {
  readonly bounds: DriftBounds;
  readonly answers: number;
  readonly maxTokens: number;
  readonly seed: number;
}

export type Verdict =
  | { readonly passed: true; readonly driftNats: number | null; readonly isAlarming: boolean }
  | { readonly passed: false; readonly driftNats: number | null; readonly reason: string };

/** Decides whether a loaded version may serve: one probe answer with finite log-probs, then its drift on the probe set. */
export class Examination {
  constructor(
    private readonly model: PolicyModel,
    private readonly probes: ProbeSet,
    private readonly options: ExaminationOptions,
  ) {}

  /** One short answer of the model of that name, or of the base model's. @returns why the version may not serve, or `null` */
  async probe(engine: EngineClient, model: string | null): Promise<string | null> {
    const [promptIds] = this.probes.all();
    const { logProbs } = await engine.sample({
      model,
      promptIds: promptIds ?? [0],
      maxTokens: 4,
      seed: this.options.seed,
    });
    const strange = logProbs.find((logProb) => !Number.isFinite(logProb));
    return strange === undefined ? null : `probe: ${engine.baseUrl} gave the log-prob ${strange}`;
  }

  /**
   * Samples probe answers from the new version on an engine, and scores them here under the version and under the base model.
   * Skipped when neither bound is set.
   */
  async drift(engine: EngineClient, name: string | null, weights: TrainedWeights): Promise<Verdict> {
    const { bounds } = this.options;
    if (bounds.alarmNats === null && bounds.refuseNats === null)
      return { passed: true, driftNats: null, isAlarming: false };
    const prompts = promptsForAnswers(this.probes.all(), this.options.answers);
    if (prompts.length === 0) return { passed: true, driftNats: null, isAlarming: false };
    const answers = await this.sampleAll(engine, name, prompts);
    const samples = answers.map(({ ids }, i) => ({ promptIds: Int32Array.from(prompts[i]!), responseIds: ids }));
    const policy = await this.model.responseLogProbs(samples, weights);
    const seed = await this.model.responseLogProbs(samples, null);
    if ([...policy, ...seed].some((logProbs) => !logProbs.every(Number.isFinite))) {
      return { passed: false, driftNats: null, reason: 'drift: the probe answers have log-probs that are not finite' };
    }
    const nats = driftNats(policy, seed);
    const verdict = driftVerdict(nats, bounds);
    if (verdict === 'refuse') {
      return {
        passed: false,
        driftNats: nats,
        reason: `drift: ${nats.toFixed(3)} nats per answer, the bound is ${bounds.refuseNats}`,
      };
    }
    return { passed: true, driftNats: nats, isAlarming: verdict === 'alarm' };
  }

  private async sampleAll(
    engine: EngineClient,
    model: string | null,
    prompts: readonly (readonly number[])[],
  ): Promise<SampledAnswer[]> {
    const answers: SampledAnswer[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let i = next++; i < prompts.length; i = next++) {
        const { maxTokens, seed } = this.options;
        answers[i] = await engine.sample({ model, promptIds: prompts[i]!, maxTokens, seed: seed + i });
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_PROBES, prompts.length) }, worker));
    return answers;
  }
}
