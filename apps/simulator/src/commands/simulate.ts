import { personas, question, random, type Persona } from '@hindcast/seed-world';
import { counted, wholeNumber } from '@hindcast/platform/terminal';
import { Command, Option } from 'commander';
import { readFileSync } from 'node:fs';
import { ChatClient } from '../client';
import { environment } from '../config';
import { rate } from '../core/learning-curve';
import { feedbackKinds, type Feedback } from '../core/user';
import { Progress, say } from '../progress';
import { percent } from '../core/report-lines';
import { runSession, type SessionResult } from '../session';

interface Flags {
  readonly gateway: string;
  readonly keyFile?: string;
  readonly sessions: number;
  readonly persona: Persona;
  readonly feedback: Feedback;
  readonly seed: number;
  readonly atOnce: number;
  readonly patience: number;
  readonly json?: boolean;
}

export const simulate = new Command('simulate')
  .description('Simulated users talk to a gateway that runs, and react to its answers; what they say trains the model.')
  .option('--gateway <url>', 'its address', environment['HINDCAST_URL'] || 'http://127.0.0.1:8080')
  .option('--key-file <file>', 'file that holds the API key (default: HINDCAST_API_KEY)')
  .addOption(new Option('--sessions <n>', 'conversations').argParser(wholeNumber(1)).default(10))
  .addOption(
    new Option('--persona <who>', 'student: no lists or bold; ta: long answers; teacher: a kind word')
      .choices(personas)
      .default('student'),
  )
  .addOption(new Option('--feedback <kind>', 'how openly users complain').choices(feedbackKinds).default('mixed'))
  .addOption(new Option('--seed <n>', 'seed of questions and replies').argParser(wholeNumber(0)).default(1))
  .addOption(new Option('--at-once <n>', 'conversations at the same time').argParser(wholeNumber(1)).default(1))
  .addOption(
    new Option('--patience <seconds>', 'longest wait for a gateway that is away').argParser(wholeNumber(1)).default(60),
  )
  .option('--json', 'print JSON')
  .action(async (flags: Flags) => {
    const results = await runSessions(flags);
    const answers = results.reduce((sum, result) => sum + result.answers, 0);
    const ruleRate = rate(results.map(({ firstMet }) => firstMet));
    const report = { sessions: results.length, answers, ruleRate, persona: flags.persona, seed: flags.seed };
    process.stdout.write(
      flags.json
        ? `${JSON.stringify(report)}\n`
        : `${counted(results.length, 'conversation')}, ${counted(answers, 'answer')}; the first answer met the wish of ${percent(ruleRate)}.\n`,
    );
    say('What became of them: npx hindcast status');
  });

/** The conversations in the order of their numbers, several at once. */
async function runSessions({
  sessions,
  atOnce,
  persona,
  feedback,
  seed,
  patience,
  ...place
}: Flags): Promise<SessionResult[]> {
  const client = new ChatClient(place.gateway.replace(/\/+$/, '').replace(/\/v1$/, ''), keyOf(place.keyFile));
  const progress = new Progress('Conversations', sessions);
  const results: SessionResult[] = [];
  // Runs do not meet in one session, and each may be done again.
  const run = Date.now().toString(36);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < sessions; i = next++) {
      const draw = random(`${seed}/${persona}/user/${i}`);
      const user = { persona, feedback, question: question(draw), draw, sessionId: `simulated-${run}-${i}` };
      results.push(await runSession(client, { ...user, seed: seed * 100_000 + i * 10 }, patience * 1000));
      progress.advance();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, sessions) }, work));
  } finally {
    progress.stop();
  }
  return results;
}

function keyOf(file: string | undefined): string | undefined {
  return file === undefined ? environment['HINDCAST_API_KEY'] || undefined : readFileSync(file, 'utf8').trim();
}
