import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { FeedEvent } from '../core/admin/feed';
import { FeedListener } from './feed-listener';

/** A connection that takes one piece at a time, when it is told to. */
class Connection extends Writable {
  readonly sent: string[] = [];
  private taken: (() => void) | null = null;

  constructor() {
    super({ highWaterMark: 1, decodeStrings: false });
  }

  override _write(piece: string, _: string, taken: () => void): void {
    this.sent.push(piece);
    this.taken = taken;
  }

  async take(): Promise<void> {
    this.taken?.();
    await nextTick();
  }
}

const overview = (number: number): FeedEvent => ({ name: 'overview', data: { number } });
const turns = (revision: string): FeedEvent => ({ name: 'turns', data: { revision } });
const text = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

let connection: Connection;
let listener: FeedListener;
beforeEach(() => {
  connection = new Connection();
  listener = new FeedListener(connection as unknown as ServerResponse, () => true);
});
afterEach(() => jest.restoreAllMocks());

it('who takes nothing is told only the latest of each name once everything before is taken', async () => {
  listener.tell([overview(1)]);
  listener.tell([overview(2), turns('a')]);
  listener.tell([overview(3)]);
  listener.tell([turns('b')]);
  expect(connection.writableLength).toBe(text('overview', '{"number":1}').length);
  await connection.take();
  await connection.take();
  expect(connection.sent).toEqual([
    text('overview', '{"number":1}'),
    text('overview', '{"number":3}'),
    text('turns', '{"revision":"b"}'),
  ]);
});

it('a line that says nothing waits for nobody', async () => {
  listener.tell([overview(1)]);
  listener.beat();
  await connection.take();
  expect(connection.sent).toHaveLength(1);
  listener.beat();
  expect(connection.sent.at(-1)).toBe(': \n\n');
});

it('who takes nothing for half a minute is gone, who takes now and then is not', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  listener.tell([overview(1)]);
  now.mockReturnValue(29_000);
  await connection.take();
  listener.tell([overview(2)]);
  now.mockReturnValue(58_000);
  listener.beat();
  expect(connection.destroyed).toBe(false);
  now.mockReturnValue(60_000);
  listener.beat();
  expect(connection.destroyed).toBe(true);
});
