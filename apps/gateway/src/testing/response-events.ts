import { nothingAsked } from '../core/strip-fields';
import { responsesFormat } from '../core/responses/responses-format';

export type Json = Record<string, unknown>;

export const TURN = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const event = { raw: new Uint8Array(), data: '', event: null };

/** One event of an engine's stream. */
export const chunk = (delta: Json, finish: string | null = null, extra: Json = {}): Json => ({
  model: 'seed',
  choices: [{ index: 0, delta, finish_reason: finish, ...extra }],
});

export const call = (index: number, written: string, name?: string): Json => ({
  tool_calls: [
    { index, ...(name && { id: `call_${name}`, type: 'function' }), function: { name, arguments: written } },
  ],
});

/** Reads the events as a client does: `event:` line and data must agree, and the numbers count up. */
export function read(written: readonly Uint8Array[]): Json[] {
  const events = Buffer.concat(written)
    .toString()
    .split('\n\n')
    .filter(Boolean)
    .map((block) => {
      const [, type, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!;
      const parsed = JSON.parse(data!) as Json;
      expect(parsed['type']).toBe(type);
      return parsed;
    });
  expect(events.map((each) => each['sequence_number'])).toEqual(events.map((_, index) => index));
  return events;
}

/** The client's events for a stream that ends well. */
export function stream(chunks: readonly Json[], request: Json = {}): Json[] {
  const format = responsesFormat({ model: 'm', ...request }, 1_700_000_000).stream(nothingAsked, TURN);
  return read([
    ...chunks.flatMap((each) => [...format.chunk(event, each)]),
    ...format.done(event),
    ...format.done(null),
  ]);
}

export const types = (events: readonly Json[]): unknown[] =>
  events.map(({ type }) => String(type).replace('response.', ''));
