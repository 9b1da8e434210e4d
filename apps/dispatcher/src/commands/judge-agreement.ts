import type { Score } from '@hindcast/contracts';
import { brokerOf } from '@hindcast/platform';
import { Command } from 'commander';
import type { Database } from '../database';
import { commandConfig } from './command-config';
import { ENOUGH_PAIRS, judgeAgreement, type AgreementSummary, type ComparedTurn } from './core/judge-agreement';
import { withBroker } from './open-broker';
import { withLedger } from './open-ledger';
import { addRowFilter, dataDirOption, jsonOption, type RowFilter } from './options';
import { addRecordedFeedback, addStoredFeedback, type FeedbackByTurn } from './read-feedback';
import type { Terminal } from './terminal';
import { counted, textTable } from '@hindcast/platform/terminal';

interface Flags extends RowFilter {
  readonly json?: boolean;
  readonly dataDir?: string;
}

/** Turns looked up at a time. */
const CHUNK = 500;

/** `npm run judge:agreement`: whether the judge's votes can be trusted, as far as people said. */
export function judgeAgreementCommand(terminal: Terminal): Command {
  const command = new Command('judge:agreement').description(
    "Compares the judge's majority scores with what people said of the same turns (/v1/feedback): accuracy, Cohen's kappa, confusion, by judge model and prompt version.",
  );
  return addRowFilter(command, 'decisions')
    .addOption(jsonOption())
    .addOption(dataDirOption())
    .action((flags: Flags) => run(terminal, flags));
}

async function run(terminal: Terminal, flags: Flags): Promise<void> {
  const { dispatcher } = commandConfig(terminal.env, flags.dataDir);
  const summary = await withLedger(dispatcher, terminal, async (database) => {
    const feedback: FeedbackByTurn = new Map();
    await addRecordedFeedback(database, flags, feedback);
    await withBroker(brokerOf(dispatcher), terminal, (connection) => addStoredFeedback(connection, feedback)).catch(
      (error: Error) => terminal.say(`Only feedback that was there at the decision is counted: ${error.message}`),
    );
    return judgeAgreement(await comparedTurns(database, flags, feedback));
  });
  if (flags.json) terminal.print(JSON.stringify(summary));
  else print(terminal, summary);
}

interface Row {
  readonly turnId: string;
  readonly judgeModel: string;
  readonly promptVersion: string;
  readonly votes: readonly (Score | null)[] | null;
}

async function comparedTurns(database: Database, filter: RowFilter, feedback: FeedbackByTurn): Promise<ComparedTurn[]> {
  const { tenant = null, session = null, since = null, until = null, limit = Infinity } = filter;
  const turns: ComparedTurn[] = [];
  const ids = [...feedback.keys()].sort();
  for (let start = 0; start < ids.length && turns.length < limit; start += CHUNK) {
    const some = ids.slice(start, start + CHUNK);
    const rows = await database.run(
      (prisma) => prisma.$queryRaw<Row[]>`
        SELECT d."turnId", d."judgeModel", coalesce(d."promptVersion", '') AS "promptVersion",
          (SELECT array_agg(v.score ORDER BY v.ordinal) FROM votes v WHERE v."turnId" = d."turnId" AND v.kind = 'eval') AS votes
        FROM decisions d JOIN turns t ON t.id = d."turnId"
        WHERE d."turnId" = ANY (${some}::text[]) AND d."judgeModel" IS NOT NULL
          AND (${tenant}::text IS NULL OR t.tenant = ${tenant}) AND (${session}::text IS NULL OR t."sessionId" = ${session})
          AND (${since}::timestamptz IS NULL OR d."decidedAt" >= ${since})
          AND (${until}::timestamptz IS NULL OR d."decidedAt" < ${until})
        ORDER BY d."turnId"`,
    );
    for (const { turnId, judgeModel, promptVersion, votes } of rows)
      turns.push({ judgeModel, promptVersion, votes: votes ?? [], human: feedback.get(turnId)!.reward });
  }
  return turns.slice(0, limit);
}

function print(terminal: Terminal, { all, judges, notAsked }: AgreementSummary): void {
  const rate = (value: number | null): string => (value === null ? '-' : value.toFixed(3));
  const heading = ['judge', 'prompt', 'pairs', 'accuracy', 'decided', 'accuracy', 'kappa', 'abstained'];
  const named = [...judges, { judgeModel: 'all', promptVersion: '', ...all }];
  const rows = named.map((report) => [
    report.judgeModel,
    report.promptVersion,
    String(report.n),
    rate(report.accuracy),
    String(report.decided),
    rate(report.decidedAccuracy),
    rate(report.kappa),
    String(report.abstained),
  ]);
  if (all.n + all.abstained > 0) {
    terminal.print(`${textTable(heading, rows, terminal.width)}\n`);
    const scores = ['−1', '0', '+1'];
    const confusion = all.confusion.map((counts, i) => [scores[i]!, ...counts.map(String)]);
    terminal.print(textTable(['person \\ judge', ...scores], confusion, terminal.width));
  }
  if (notAsked > 0)
    terminal.print(
      `\n${counted(notAsked, 'turn')} with feedback never came to the judge (FEEDBACK_REWARD=join has both).`,
    );
  if (!all.isEnough)
    terminal.print(
      `\nToo few to say: ${all.decided} turns on which both the judge and a person are decided, of at least ${ENOUGH_PAIRS}.`,
    );
}
