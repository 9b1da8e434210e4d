import { HindcastError } from '@hindcast/contracts';

/** The last row of a page; the next page begins behind it. */
export interface Place {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Tells rows of one millisecond apart. */
  readonly id: string;
}

/** The database would read later times otherwise than they are written here. */
const END_OF_9999 = 253_402_300_799_999;

export const cursorOf = ({ at, id }: Place): string => Buffer.from(`${at} ${id}`).toString('base64url');

/**
 * @param ids what the ids of the list look like
 * @throws HindcastError `invalid-request` when the text is not what {@link cursorOf} made for such a list
 */
export function placeOf(cursor: string, ids: RegExp): Place {
  const [, at, id] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined || Number(at) > END_OF_9999 || !ids.test(id))
    throw new HindcastError('invalid-request', 'before: not a cursor of this list');
  return { at: Number(at), id };
}
