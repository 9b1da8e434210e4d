import { decodeCapture, type Capture, type Feedback } from '@hindcast/contracts';
import {
  decide,
  needsCapture,
  type CaptureFailure,
  type Circumstances,
  type Decision,
  type JudgedTurn,
} from './decide';

/** Everything that the decision on a turn depends on: equal recordings give equal decisions and samples, to the bit. */
export interface Recording {
  readonly turnId: string;
  readonly judged: JudgedTurn;
  /** What a person said of the turn. */
  readonly feedback: Feedback | null;
  readonly circumstances: Circumstances;
  /** The capture's bytes (`encodeCapture`); `null` when there are none, or the gate did not ask for them. */
  readonly capture: Uint8Array | null;
}

/** A recording as the ledger keeps it. */
export interface RecordingTexts {
  readonly turnId: string;
  readonly judged: string;
  readonly feedback: string | null;
  readonly circumstances: string;
  readonly capture: Uint8Array | null;
}

/** What a replay may change: another rule, other limits, another reading of feedback, what the session had by then. */
export type Overrides = Partial<Omit<Circumstances, 'rule'>> & { readonly rule?: Partial<Circumstances['rule']> };

/**
 * The decision that follows from a recording, and the sample. The dispatcher itself decides by this function, so that a replay cannot
 * drift from what was decided.
 */
export function decideRecording(recording: Recording, overrides: Overrides = {}): Decision {
  const { judged, feedback } = recording;
  const circumstances = overridden(recording.circumstances, overrides);
  const capture = needsCapture(judged, feedback, circumstances) ? captureOf(recording.capture) : 'capture-missing';
  return decide(judged, feedback, circumstances, capture);
}

const overridden = (circumstances: Circumstances, { rule, ...others }: Overrides): Circumstances => ({
  ...circumstances,
  ...others,
  rule: { ...circumstances.rule, ...rule },
});

export const recordingTexts = ({ turnId, judged, feedback, circumstances, capture }: Recording): RecordingTexts => ({
  turnId,
  judged: JSON.stringify(judged),
  feedback: feedback && JSON.stringify(feedback),
  circumstances: JSON.stringify(circumstances),
  capture,
});

/**
 * A recording from before `evalQuorum` was recorded was decided with one of 1.
 *
 * @throws SyntaxError when a text is not what {@link recordingTexts} wrote.
 */
export const recordingOf = ({ turnId, judged, feedback, circumstances, capture }: RecordingTexts): Recording => ({
  turnId,
  judged: JSON.parse(judged) as JudgedTurn,
  feedback: feedback === null ? null : (JSON.parse(feedback) as Feedback),
  circumstances: { evalQuorum: 1, ...(JSON.parse(circumstances) as Omit<Circumstances, 'evalQuorum'>) },
  capture,
});

/** The sampled tokens of a recording; `null` where it has no capture that can be read. */
export function capturedTokens({ capture }: Recording): Pick<Capture, 'responseIds' | 'rolloutLogProbs'> | null {
  const found = captureOf(capture);
  return typeof found === 'string' ? null : found;
}

function captureOf(bytes: Uint8Array | null): Capture | CaptureFailure {
  if (bytes === null) return 'capture-missing';
  try {
    return decodeCapture(bytes);
  } catch {
    return 'capture-malformed';
  }
}
