import { question, random, type Persona } from '@hindcast/seed-world';
import { join } from 'node:path';
import { ChatClient } from './client';
import { rate } from './core/learning-curve';
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

/** Runs the simulated sessions against a running stack, in lockstep with training, and reports what changed. */
export async function runDemo(stack: Stack, options: DemoOptions, patienceMs: number): Promise<DemoReport> {
  const before = await heldOut(stack, options, BASE_MODEL, 'Held-out questions, seed model   ');
  const firstAnswers = await runSessions(stack, options, patienceMs);
  const after = await heldOut(stack, options, CURRENT_MODEL, 'Held-out questions, last version ');
  const ledger = await statusWithin(stack, patienceMs);
  const wrong = imbalances(ledger);
  if (wrong.length > 0) throw new Error(`the books do not balance: ${wrong.join('; ')}`);
  return demoReport(options, ledger, firstAnswers, { before, after }, adapterDir(stack, ledger.policyVersion));
}

/** Directory of a published version; `null` for version 0. */
export const adapterDir = (stack: Stack, version: number): string | null =>
  version === 0 ? null : join(stack.policyDir, `v${String(version).padStart(6, '0')}`);

/** @returns for each session whether its first answer met the wish */
async function runSessions(stack: Stack, options: DemoOptions, patienceMs: number): Promise<boolean[]> {
  const client = new ChatClient(stack.gatewayUrl, stack.apiKey);
  const draw = random(`${options.seed}/${options.persona}/user`);
  const known = (await statusWithin(stack, patienceMs)).turns.captured;
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
  return firstAnswers;
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

export const percent = (share: number | null): string => (share === null ? 'n/a' : `${Math.round(share * 100)} %`);

/** The report in words. */
export function printReport(report: DemoReport): void {
  const { cases, turns, heldOut: rule, wellFormed } = report;
  say();
  say(
    `${report.sessions} sessions of a ${report.persona} (${report.feedback} feedback), method ${report.method}, seed ${report.seed}`,
  );
  say(`  rule met on held-out questions   ${percent(rule.before)} → ${percent(rule.after)}`);
  say(`  well-formed answers              ${percent(wellFormed.before)} → ${percent(wellFormed.after)}`);
  say(`  rule met, first and last ten     ${percent(report.ruleRate.first10)} → ${percent(report.ruleRate.last10)}`);
  say(
    `  sessions to 3 in a row, 8 of 10  ${report.sessionsTo.threeInARow ?? '–'}, ${report.sessionsTo.eightOfTen ?? '–'}`,
  );
  say(`  distance from the seed model     ${report.klPerAnswer.toFixed(2)} nats per answer`);
  say(
    `  turns                            ${turns.captured} captured, ${turns.paired} paired, ${turns.untrainable} untrainable`,
  );
  say(
    `  gate                             ${cases.opdRl} OPD+RL, ${cases.opd} OPD, ${cases.rl} RL, ${cases.drop} dropped`,
  );
  say(
    `  training                         ${report.samplesTrained} samples, ${report.steps} steps, ${report.versions} versions published; version ${report.servedVersion} serves`,
  );
}
