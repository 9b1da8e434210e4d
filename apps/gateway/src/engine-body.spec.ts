import type { Dispatcher } from 'undici';
import { readEngineBody } from './engine-body';
import { EngineBody } from './engine-exchange';

function bodyOf(...pieces: string[]): { body: EngineBody; connection: jest.Mocked<Dispatcher.DispatchController> } {
  const connection = {
    pause: jest.fn(),
    resume: jest.fn(),
    abort: jest.fn(),
  } as unknown as jest.Mocked<Dispatcher.DispatchController>;
  const body = new EngineBody(connection);
  for (const piece of pieces) body.push(Buffer.from(piece));
  return { body, connection };
}

describe('readEngineBody', () => {
  it('gives all pieces as one, whenever they come, and pauses the engine for none', async () => {
    const { body, connection } = bodyOf('a');
    const read = readEngineBody(body);
    for (const piece of ['b'.repeat(100_000), 'c'.repeat(100_000), 'd']) {
      await Promise.resolve();
      body.push(Buffer.from(piece));
    }
    body.finish(null);
    expect((await read).toString()).toBe(`a${'b'.repeat(100_000)}${'c'.repeat(100_000)}d`);
    expect(connection.pause).not.toHaveBeenCalled();
  });

  it('goes on with an engine that was paused before anybody read', async () => {
    const { body, connection } = bodyOf('a'.repeat(100_000));
    expect(connection.pause).toHaveBeenCalled();
    const read = readEngineBody(body);
    expect(connection.resume).toHaveBeenCalled();
    body.finish(null);
    expect(await read).toHaveLength(100_000);
  });

  it.each([
    { why: 'while it waits', before: 'abc', after: 'defg' },
    { why: 'before anybody read', before: 'abcdefg', after: '' },
  ])('closes the connection of an answer that is larger than its limit: $why', async ({ before, after }) => {
    const { body, connection } = bodyOf(before);
    const read = readEngineBody(body, 6);
    body.push(Buffer.from(after));
    await expect(read).rejects.toThrow('more than 6 bytes');
    expect(connection.abort).toHaveBeenCalled();
  });

  it('throws what broke it off', async () => {
    const { body } = bodyOf('a');
    const read = readEngineBody(body);
    body.finish(new Error('reset'));
    await expect(read).rejects.toThrow('reset');
  });
});
