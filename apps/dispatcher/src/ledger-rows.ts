import type { PolicyUpdated } from '@hindcast/contracts';
import type { Turn } from './core/turn';
import type { TurnTexts } from './core/turn-texts';
import type { Prisma } from './generated/client';

/** A sample that was trained or refused. */
export interface EndedSample {
  readonly turnId: string;
  readonly state: 'trained' | 'refused';
  readonly refusedReason?: string | null;
  readonly refusedDetail?: string | null;
  readonly trainedIn?: number | null;
}

/** A sample to be published. */
export interface OutboxRow {
  readonly turnId: string;
  readonly tenant: string;
  /** The sample as JSON; `null` where the turn's recording gives it again. */
  readonly body: Uint8Array | null;
  /** See `trace-text.ts`. */
  readonly trace: string | null;
}

/** What a decision depended on (`core/recording.ts`). */
export interface RecordingRow {
  readonly turnId: string;
  readonly tenant: string;
  readonly sessionId: string | null;
  readonly judged: string;
  readonly capture: Uint8Array | null;
  readonly feedback: string | null;
  readonly circumstances: string;
}

/** A judged turn that waits for the outcome of its session. */
export interface HeldRow {
  readonly turnId: string;
  readonly tenant: string;
  readonly sessionId: string;
  readonly judged: string;
  readonly expiresAt: Date;
  readonly trace: string | null;
}

/** What the judge saw of a turn (`core/turn-texts.ts`). */
export interface TextRow extends TurnTexts {
  readonly turnId: string;
}

/** What became of a version; its state as the database spells it. */
export type VersionRow = Omit<Prisma.PolicyVersionCreateManyInput, 'state'> & Pick<PolicyUpdated, 'state'>;

/** Rows that belong to turns of the same change: they are stored when their turn is. */
export interface TurnRows {
  readonly decisions?: readonly Prisma.DecisionCreateManyInput[];
  readonly votes?: readonly Prisma.VoteCreateManyInput[];
  readonly samples?: readonly Prisma.SampleCreateManyInput[];
  readonly outbox?: readonly OutboxRow[];
  readonly recordings?: readonly RecordingRow[];
  readonly held?: readonly HeldRow[];
  readonly texts?: readonly TextRow[];
  readonly ended?: readonly EndedSample[];
}

/** Rows to store together. */
export interface Changes extends TurnRows {
  /** Each one revision ahead of its row. */
  readonly turns: readonly Turn[];
  /** Turns that are only stored while no turn of their session was kept. */
  readonly firstSamples?: readonly { readonly turnId: string; readonly sessionId: string }[];
  readonly steps?: readonly Prisma.StepCreateManyInput[];
  readonly versions?: readonly VersionRow[];
  readonly deadLetters?: readonly Prisma.DeadLetterCreateManyInput[];
  /** Turns whose samples the broker has confirmed. */
  readonly sent?: readonly string[];
}
