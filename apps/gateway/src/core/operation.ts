import type { CapturedTurn, ClosedTurn, SessionOutcome, TraceContext } from '@hindcast/contracts';
import type { PairTexts } from './judge-texts';
import type { EditedHistory, OpenTurn, SessionTurn } from './open-turn';
import type { Asked } from './request-identity';

/** An answer in the conversation of a request, with what the request says came after it. */
export interface Continuation {
  readonly key: string;
  readonly texts: PairTexts;
  /** Hash of what stands around the conversation before the answer. */
  readonly context: string;
  /** This gateway itself gave the answer in this session and context, if in another conversation of the session. */
  readonly isKnown: boolean;
  /** This gateway itself gave this very answer: what it wrote down of it comes before all that continues it. */
  readonly isGiven?: boolean;
  /** The conversation before the answer. Missing without a session, and in what an older gateway wrote. */
  readonly before?: Asked;
  /** `null` where only the key counts: there is no session, or the conversation before the answer was asked as it is. */
  readonly edited: EditedHistory | null;
}

/**
 * What the gateway writes down about a request. Done at once while NATS answers, else kept in the spool and done in order
 * later; doing one twice is harmless.
 */
export type Operation =
  /** A captured answer opens; its capture travels beside it. */
  | {
      readonly kind: 'open';
      readonly key: string;
      readonly turn: OpenTurn;
      readonly inSession: SessionTurn | null;
    }
  /** An answer that never opens: untrainable, or failed midway. */
  | {
      readonly kind: 'announce';
      readonly turnId: string;
      readonly tenant: string;
      readonly captured: CapturedTurn;
      readonly closed: ClosedTurn | null;
      readonly trace?: TraceContext;
    }
  /** A request continues these answers. */
  | {
      readonly kind: 'continue';
      /** Equal for the attempts of one request. */
      readonly id: string;
      readonly sessionId: string | null;
      /** The whole conversation, for its session to remember. Missing as `before` of a continuation is. */
      readonly asked?: Asked;
      readonly continuations: readonly Continuation[];
      /** When it came, milliseconds since the epoch, where it was early: what was opened later is not the answer it continues. */
      readonly at?: number;
      readonly trace?: TraceContext;
    }
  | { readonly kind: 'end-session'; readonly id: string; readonly sessionId: string; readonly detail: string }
  /** The environment says how a session ended. */
  | {
      readonly kind: 'outcome';
      /** Of the message: equal for the same outcome given again. */
      readonly id: string;
      readonly tenant: string;
      /** When it was given: turns that were opened later are not meant. Milliseconds since the epoch. */
      readonly at: number;
      readonly outcome: SessionOutcome;
    };

export const OPERATION_KINDS = [
  'open',
  'announce',
  'continue',
  'end-session',
  'outcome',
] as const satisfies readonly Operation['kind'][];

/** What an operation touches: two that share an entry must be done in order, all others need not. */
export function touchedBy(operation: Operation): string[] {
  switch (operation.kind) {
    case 'open':
      return [
        operation.key,
        ...(operation.turn.siblings ?? []).map(({ key }) => key),
        ...(operation.turn.sessionId === null ? [] : [operation.turn.sessionId]),
      ];
    case 'announce':
      return [];
    case 'continue':
      return [
        ...operation.continuations.map(({ key }) => key),
        ...(operation.sessionId === null ? [] : [operation.sessionId]),
      ];
    case 'end-session':
      return [operation.sessionId];
    case 'outcome':
      return [operation.outcome.sessionId];
  }
}

/** Why an operation was given up: there was no room on disk, or NATS can never take it. */
export const DROP_REASONS = ['full', 'refused'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

const DETAILS: Readonly<Record<DropReason, string>> = {
  full: 'the spool was full',
  refused: 'refused again and again',
};

/** What is left of an operation that is given up: how an opened turn ended. `null`: nothing. */
export function withoutCapture(operation: Operation, reason: DropReason): Operation | null {
  if (operation.kind !== 'open') return null;
  const { turnId, tenant, captured, trace } = operation.turn;
  const closed: ClosedTurn = { reason: 'dropped-from-spool', detail: DETAILS[reason] };
  return { kind: 'announce', turnId, tenant, captured, closed, ...(trace && { trace }) };
}

/** Whether an operation is all that tells the ledger how a turn or a session ended. It is small, and dropped last. */
export const isClosing = (operation: Operation): boolean =>
  operation.kind === 'outcome' || (operation.kind === 'announce' && operation.closed !== null);

const MAGIC = 0x31504f48; // "HOP1", little-endian

/** magic u32 · JSON bytes u32 · JSON · capture. */
export function encodeOperation(operation: Operation, capture: Uint8Array | null): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(operation));
  const bytes = new Uint8Array(8 + json.length + (capture?.length ?? 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, json.length, true);
  bytes.set(json, 8);
  if (capture) bytes.set(capture, 8 + json.length);
  return bytes;
}

/** @throws RangeError when the bytes are not a whole operation. */
export function decodeOperation(bytes: Uint8Array): { operation: Operation; capture: Uint8Array | null } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8 || view.getUint32(0, true) !== MAGIC) throw new RangeError('not a spooled operation');
  const end = 8 + view.getUint32(4, true);
  if (bytes.length < end) throw new RangeError('a cut spooled operation');
  const operation = JSON.parse(new TextDecoder().decode(bytes.subarray(8, end))) as Operation;
  const capture = bytes.slice(end);
  return { operation, capture: capture.length > 0 ? capture : null };
}
