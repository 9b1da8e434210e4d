interface Turns {
  /** Why nothing is captured; `null`: it is. */
  readonly skipped: string | null;
  /** Ids of the turns, by choice. */
  readonly turnIds: readonly string[];
}

/** Ids of the turns that the answer may become: of choice 0, and of all choices where there are several. */
export const turnHeaders = ({ skipped, turnIds }: Turns): Record<string, string> => ({
  ...(skipped === null && { 'x-hindcast-turn-id': turnIds[0]! }),
  ...(skipped === null && turnIds.length > 1 && { 'x-hindcast-turn-ids': turnIds.join(',') }),
});

export const streamHeaders = (turns: Turns): Record<string, string> => ({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
  ...turnHeaders(turns),
});
