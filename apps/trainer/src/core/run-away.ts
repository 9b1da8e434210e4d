import type { Progress } from './progress';

export interface RunAwayBounds {
  /** Mean KL to the base model per trained token from which publishing stops, nats; `null` for never. */
  readonly klNats: number | null;
  /** Distance of the mean entropy per token from that of the first step, nats; `null` for never. */
  readonly entropyNats: number | null;
}

export interface RunAwayAlarm {
  readonly kind: 'kl' | 'entropy';
  readonly value: number;
  readonly bound: number;
  /** One sentence for a manifest's reason, a log and an alert. */
  readonly reason: string;
}

/**
 * Whether a step's numbers say that training runs away from where it began.
 *
 *   KL(π_θ ‖ π_ref) ≥ K        or        |H(π_θ) − H₀| ≥ E        per token, means over the tokens of the step
 *
 * A teacher that finds every sampled token unlikely pushes all of them down for ever: the KL to the base model grows, and the entropy rises
 * or collapses (OpenClaw-RL issue #116). Both are those of the weights before the step, so that the version that raises the alarm is the
 * second one too far.
 *
 * @param metrics  of a step: `kl` and `entropy`, nats per token; what was not measured raises no alarm
 * @param progress H₀ as `entropyBaseline`
 */
export function runAwayAlarm(
  metrics: Readonly<Record<string, number>>,
  { entropyBaseline }: Pick<Progress, 'entropyBaseline'>,
  { klNats, entropyNats }: RunAwayBounds,
): RunAwayAlarm | null {
  const { kl, entropy } = metrics;
  if (klNats !== null && kl !== undefined && kl >= klNats) {
    const reason = `run-away: KL to the base model ${kl.toFixed(3)} nats per token, the bound is ${klNats}`;
    return { kind: 'kl', value: kl, bound: klNats, reason };
  }
  if (entropyNats === null || entropy === undefined || entropyBaseline === null) return null;
  const distance = Math.abs(entropy - entropyBaseline);
  if (distance < entropyNats) return null;
  const reason = `run-away: entropy ${entropy.toFixed(3)} nats per token, ${entropyBaseline.toFixed(3)} at the first step, the bound is ${entropyNats}`;
  return { kind: 'entropy', value: distance, bound: entropyNats, reason };
}
