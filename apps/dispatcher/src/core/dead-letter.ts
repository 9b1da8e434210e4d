import { Tenant, TurnId, contractOf, durableName, type DeadLetter } from '@hindcast/contracts';

/**
 * What a message that failed for good means for its turn.
 *
 * - `failed`: its ending is not known and may never be; anything that is known weighs more.
 * - `dropped`: it was paired and nobody will decide it now.
 * - `refused`: its sample will not be trained.
 */
export interface Consequence {
  readonly turnId: string;
  /** `null` when the message does not say. */
  readonly tenant: string | null;
  readonly kind: 'failed' | 'dropped' | 'refused';
}

/** `null` when no turn is concerned, or the message cannot say which. */
export function consequenceOf(letter: DeadLetter, turnId: string | null): Consequence | null {
  const original = envelopeOf(letter.payload);
  const concerned = turnId ?? original.turnId ?? turnOfMessageId(letter.messageId);
  const kind = kindOf(letter);
  if (concerned === null || kind === null) return null;
  return { turnId: concerned, tenant: original.tenant, kind };
}

function kindOf({ subject, consumer }: DeadLetter): Consequence['kind'] | null {
  switch (contractOf(subject)) {
    case 'turnCaptured':
    case 'turnClosed':
      return 'failed';
    case 'turnPaired':
      // Two read it. Without the judge there is no judgement; without the ledger's copy the judgement still comes.
      return consumer === durableName('judge-svc', subject) ? 'dropped' : 'failed';
    case 'turnHinted':
    case 'turnUnhinted':
    case 'turnScored':
      return 'dropped';
    case 'sampleReady':
    case 'sampleRefused':
      return 'refused';
    default:
      return null;
  }
}

/** Turn and tenant of a message that may be broken in any way. */
function envelopeOf(payload: string): { turnId: string | null; tenant: string | null } {
  let envelope: unknown;
  try {
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    envelope = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    envelope = null;
  }
  const { turnId, tenant } = Object(envelope) as { turnId?: unknown; tenant?: unknown };
  return {
    turnId: TurnId.safeParse(turnId).data ?? null,
    tenant: Tenant.safeParse(tenant).data ?? null,
  };
}

/** Message ids are `<stage>.<turnId>`. */
const turnOfMessageId = (id: string | null): string | null => TurnId.safeParse(id?.split('.').at(-1)).data ?? null;
