import { RequestMemory } from './request-memory';

describe('RequestMemory', () => {
  it('goes back once, when nobody reads it any more, however that ended', async () => {
    const memory = new RequestMemory();
    const giveBack = jest.fn();
    let fail: (error: Error) => void = () => undefined;
    memory.add({ giveBack });
    memory.isReadBy(Promise.resolve());
    memory.isReadBy(new Promise((_, reject) => (fail = reject)));
    const over = memory.giveBack();
    await new Promise(setImmediate);
    expect(giveBack).not.toHaveBeenCalled();
    fail(new Error('a reader failed'));
    await over;
    await memory.giveBack();
    expect(giveBack).toHaveBeenCalledTimes(1);
  });
});
