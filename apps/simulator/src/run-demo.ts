import { question, random, type Persona } from '@hindcast/seed-world';
import { join } from 'node:path';
import { ChatClient } from './client';
import { rate } from './core/learning-curve';
import { percent, reportLines } from './core/report-lines';
import { demoReport, imbalances, type DemoOptions, type DemoReport, type HeldOut } from './core/report';
import { evaluateHeldOut, HELD_OUT_QUESTIONS } from './held-out';
import { statusWithin, whenSettled, type Status } from './ledger';
import { Progress, say } from './progress';
import { runSession } from './session';
import type { Stack } from './stack/stack';

/** Name of the base model in the engine; asked for by name it always answers as version 0. */
export const BASE_MODEL = 'seed';
/** Any name that no engine lists is answered by the current version. */
export const CURRENT_MODEL = 'hindcast';

const LAST_VERSION = 'Held-out questions, last version ';
/** How long a turn that the ledger has not heard of, or that nothing came after, is waited for at the end. */
const LAST_PATIENCE_MS = 15_000;

/** Runs the simulated sessions against a running stack, in lockstep with training, and reports what changed. */
export async function runDemo(stack: Stack, options: DemoOptions, patienceMs: number): Promise<DemoReport> {
  const before = await heldOut(stack, options, BASE_MODEL, 'Held-out questions, seed model   ');
  const earlier = await statusWithin(stack, patienceMs);
  const { firstAnswers, captured } = await runSessions(stack, options, patienceMs, earlier.turns.captured);
  // The last answers are decided, and the last step is published, before its version is asked and counted.
  const settled = (): Promise<Status> =>
    whenSettled(stack, captured, { patienceMs, open: earlier.turns.open, lateMs: LAST_PATIENCE_MS, onWaiting: say });
  const asked = await settled();
  let after = await heldOut(stack, options, CURRENT_MODEL, LAST_VERSION);
  let ledger = await settled();
  if (ledger.policyVersion !== asked.policyVersion) {
    say(`Version ${ledger.policyVersion} came meanwhile; it is asked as well.`);
    after = await heldOut(stack, options, CURRENT_MODEL, LAST_VERSION);
    ledger = await settled();
  }
  const wrong = imbalances(ledger);
  if (wrong.length > 0) throw new Error(`the books do not balance: ${wrong.join('; ')}`);
  return demoReport(options, ledger, firstAnswers, { before, after }, adapterDir(stack, ledger.policyVersion), earlier);
}

/** Directory of a published version; `null` for version 0. */
export const adapterDir = (stack: Stack, version: number): string | null =>
  version === 0 ? null : join(stack.policyDir, `v${String(version).padStart(6, '0')}`);

/**
 * @param known turns that the ledger knew before
 * @returns for each session whether its first answer met the wish; the turns that the ledger should know now
 */
async function runSessions(
  stack: Stack,
  options: DemoOptions,
  patienceMs: number,
  known: number,
): Promise<{ firstAnswers: boolean[]; captured: number }> {
  const client = new ChatClient(stack.gatewayUrl, stack.apiKey);
  const draw = random(`${options.seed}/${options.persona}/user`);
  const progress = new Progress('Sessions', options.sessions);
  const firstAnswers: boolean[] = [];
  let captured = known;
  let now: Status | null = null;
  try {
    for (let i = 0; i < options.sessions; i++) {
      const result = await runSession(client, {
        persona: options.persona,
        feedback: options.feedback,
        question: question(draw),
        draw,
        sessionId: `demo-${options.seed}-${options.persona}-${i}`,
        seed: options.seed * 100_000 + i * 10,
      });
      firstAnswers.push(result.firstMet);
      captured += result.answers;
      now = await whenSettled(stack, captured, { patienceMs, onWaiting: (line) => progress.interrupt(line) });
      progress.advance(
        `rule met in the last ten ${percent(rate(firstAnswers.slice(-10)))} · version ${now.policyVersion}`,
      );
    }
  } finally {
    progress.stop();
  }
  return { firstAnswers, captured };
}

async function heldOut(
  stack: Stack,
  { persona, seed }: { persona: Persona; seed: number },
  model: string,
  title: string,
): Promise<HeldOut> {
  const progress = new Progress(title, HELD_OUT_QUESTIONS, HELD_OUT_QUESTIONS);
  try {
    return await evaluateHeldOut({
      gateway: stack,
      engineUrl: stack.engineUrl,
      baseModel: BASE_MODEL,
      model,
      persona,
      seed,
      onAnswer: () => progress.advance(),
    });
  } finally {
    progress.stop();
  }
}

/** The report in words. */
export function printReport(report: DemoReport): void {
  say();
  for (const line of reportLines(report)) say(line);
}
