import { ContractViolation } from '@hindcast/contracts';

/** The last row of a page; the next page begins behind it. */
export interface Place {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Tells rows of one millisecond apart. */
  readonly id: string;
}

export const cursorOf = ({ at, id }: Place): string => Buffer.from(`${at} ${id}`).toString('base64url');

/** @throws ContractViolation when the text is not what {@link cursorOf} made */
export function placeOf(cursor: string): Place {
  const [, at, id] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined) throw new ContractViolation('before', 'not a cursor of this list');
  return { at: Number(at), id };
}
