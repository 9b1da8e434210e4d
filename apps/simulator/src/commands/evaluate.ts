import { heldOutQuestions, ruleMet, wellFormed, type Persona } from '@hindcast/seed-world';
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { HELD_OUT_QUESTIONS, MAX_TOKENS, answerSeed } from '../held-out';
import { answersOf } from '../independent-answers';
import { Progress, say } from '../progress';
import { percent } from '../core/report-lines';
import { root } from '../start-stack';

const Reported = z.object({
  persona: z.enum(['student', 'ta', 'teacher']),
  seed: z.int(),
  heldOut: z.object({ before: z.number(), after: z.number() }),
  adapterDir: z.string().nullable(),
});

/** Answers that may differ because two programs round differently at a draw's edge. */
const TOLERATED_ANSWERS = 2;

export const evaluate = new Command('evaluate')
  .description(
    "Answers a demo's held-out questions again, by the adapter's files alone, and compares the rule rate with the report.",
  )
  .requiredOption('--report <file>', 'report of a demo')
  .option('--model-dir <folder>', 'the seed model', join(root, 'models/seed'))
  .action(async (flags: { report: string; modelDir: string }) => {
    const report = Reported.parse(JSON.parse(readFileSync(flags.report, 'utf8')));
    const { rule, form } = await heldOutRates(resolve(flags.modelDir), report.adapterDir, report.persona, report.seed);
    say(
      `rule met on held-out questions: ${percent(rule)} here, ${percent(report.heldOut.after)} in the report; well-formed ${percent(form)}`,
    );
    process.stdout.write(
      `${JSON.stringify({ heldOut: { after: rule }, wellFormed: { after: form }, reported: report.heldOut.after })}\n`,
    );
    if (Math.abs(rule - report.heldOut.after) > TOLERATED_ANSWERS / HELD_OUT_QUESTIONS)
      throw new Error('the report says something else');
  });

async function heldOutRates(
  modelDir: string,
  adapterDir: string | null,
  persona: Persona,
  seed: number,
): Promise<{ rule: number; form: number }> {
  const prompts = heldOutQuestions(seed, HELD_OUT_QUESTIONS).map(({ text }, i) => ({
    text,
    seed: answerSeed(seed, i),
  }));
  const progress = new Progress('Held-out questions', prompts.length);
  try {
    const answers = await answersOf({
      modelDir,
      adapterDir,
      prompts,
      maxTokens: MAX_TOKENS,
      onAnswer: () => progress.advance(),
    });
    const share = (test: (answer: (typeof answers)[number]) => boolean): number =>
      answers.filter(test).length / answers.length;
    return {
      rule: share(({ text, tokens, ended }) => ruleMet(persona, text, tokens, ended)),
      form: share(({ text, ended }) => wellFormed(text, ended)),
    };
  } finally {
    progress.stop();
  }
}
