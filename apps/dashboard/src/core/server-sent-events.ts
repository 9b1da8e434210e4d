/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

export interface EventReading {
  readonly events: readonly ServerSentEvent[];
  /** What has come of the next event; goes in front of the next piece. */
  readonly rest: string;
}

/** Cuts the events out of what has come so far. Comments, `id` and `retry` are passed over; an event without data is none. */
export function readEvents(text: string): EventReading {
  const blocks = text.replace(/\r\n?/g, '\n').split('\n\n');
  const rest = blocks.pop() ?? '';
  return { events: blocks.map(readBlock).filter((event) => event !== null), rest };
}

function readBlock(block: string): ServerSentEvent | null {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at <= 0) continue;
    const field = line.slice(0, at);
    const value = line.slice(at + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { event, data: data.join('\n') };
}
