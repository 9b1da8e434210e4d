import { HindcastError, Sample, decodeCapture, decodeIds, decodeLogProbs } from '@hindcast/contracts';
import { decideRecording } from '../core/recording';
import type { Database } from '../database';
import type { Column } from './export-files';
import type { RowFilter } from './options';
import { recordings, type RecordingRange, type StoredRecording } from './read-recordings';

/** A row of an export; an array of numbers is a list of tokens. */
export type ExportRow = Readonly<Record<string, unknown>>;

/** What can be exported: its columns, and how a recording becomes a row. */
export interface Export {
  readonly columns: readonly Column[];
  /** `null` where the recording has nothing of the kind. */
  readonly rowOf: (stored: StoredRecording) => ExportRow | null;
}

const shared: readonly Column[] = [
  { name: 'turnId', type: 'text' },
  { name: 'tenant', type: 'text' },
  { name: 'sessionId', type: 'text' },
  { name: 'responseId', type: 'text' },
  { name: 'policyVersion', type: 'int' },
  { name: 'decidedAt', type: 'time' },
  { name: 'case', type: 'text' },
  { name: 'reward', type: 'number' },
  { name: 'rewardSource', type: 'text' },
  { name: 'evalScore', type: 'int' },
  { name: 'hint', type: 'text' },
  { name: 'trainedIn', type: 'int' },
];

/** The samples as the trainer gets them; ids and log-probs are lists, `[P]` and `[R]`, log-probs in nats. */
export const samples: Export = {
  columns: [
    ...shared,
    { name: 'method', type: 'text' },
    { name: 'promptIds', type: 'ids' },
    { name: 'responseIds', type: 'ids' },
    { name: 'rolloutLogProbs', type: 'log-probs' },
    { name: 'teacherLogProbs', type: 'log-probs' },
    { name: 'teacherModel', type: 'text' },
    { name: 'topK', type: 'int' },
  ],
  rowOf: (stored) => {
    const decision = decideRecording(stored.recording);
    const { sample } = decision;
    if (sample === null) return null;
    const { method, teacherModel, topK, teacherLogProbs } = Sample.parse(sample);
    return {
      ...sharedPart(stored, decision),
      method,
      promptIds: decodeIds(sample.promptIds),
      responseIds: decodeIds(sample.responseIds),
      rolloutLogProbs: decodeLogProbs(sample.rolloutLogProbs),
      teacherLogProbs: teacherLogProbs && decodeLogProbs(teacherLogProbs),
      teacherModel,
      topK,
    };
  },
};

/** The conversations as clients sent them, with the answers; a turn whose capture the gate did not ask for has none. */
export const conversations: Export = {
  columns: [
    ...shared,
    { name: 'model', type: 'text' },
    { name: 'messages', type: 'json' },
    { name: 'tools', type: 'json' },
    { name: 'templateArguments', type: 'json' },
    { name: 'answer', type: 'json' },
    { name: 'finishReason', type: 'text' },
    { name: 'sampling', type: 'json' },
    { name: 'answeredAt', type: 'time' },
  ],
  rowOf: (stored) => {
    const { capture } = stored.recording;
    if (capture === null) return null;
    const { header } = decodeCapture(capture);
    const { model, messages, tools, templateArguments, answer, finishReason, sampling } = header;
    return {
      ...sharedPart(stored, decideRecording(stored.recording)),
      ...{ model, messages, tools, templateArguments, answer, finishReason, sampling },
      answeredAt: new Date(header.at),
    };
  },
};

function sharedPart(
  { tenant, decidedAt, trainedIn, recording }: StoredRecording,
  { case: gateCase, reward, rewardSource, evalScore }: ReturnType<typeof decideRecording>,
): ExportRow {
  const { turnId, judged } = recording;
  const { sessionId, responseId, policyVersion, hint } = judged;
  return {
    ...{ turnId, tenant, sessionId, responseId, policyVersion, decidedAt },
    ...{ case: gateCase, reward, rewardSource, evalScore, hint, trainedIn },
  };
}

export interface ExportFilter extends RowFilter {
  readonly case?: readonly string[];
}

/** Rows in the order of their decisions. `onRead` hears of every recording, also of those that give no row. */
export async function* exportRows(
  database: Database,
  filter: ExportFilter,
  { rowOf }: Export,
  range: RecordingRange,
  onRead: () => void,
): AsyncGenerator<ExportRow> {
  for await (const stored of recordings(database, filter, range)) {
    const row = readRow(stored, rowOf);
    onRead();
    if (row !== null && (filter.case === undefined || filter.case.includes(row['case'] as string))) yield row;
  }
}

function readRow(stored: StoredRecording, rowOf: Export['rowOf']): ExportRow | null {
  try {
    return rowOf(stored);
  } catch (cause) {
    const { turnId } = stored.recording;
    throw new HindcastError('internal', `the recording of turn ${turnId} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
