import { Stop, unlessAborted } from './abort';

describe('unlessAborted', () => {
  const never = new Promise<string>(() => undefined);

  it('gives what is waited for, and listens no longer', async () => {
    const { signal } = new AbortController();
    const removed = jest.spyOn(signal, 'removeEventListener');
    await expect(unlessAborted(Promise.resolve('here'), signal)).resolves.toBe('here');
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it('throws when the client leaves while it waits', async () => {
    const leaving = new AbortController();
    const waiting = unlessAborted(never, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
  });

  it('throws when the client has left before', async () => {
    await expect(unlessAborted(never, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  it('throws what went wrong', async () => {
    await expect(unlessAborted(Promise.reject(new Error('broken')), new AbortController().signal)).rejects.toThrow(
      'broken',
    );
  });
});

describe('Stop', () => {
  it('tells who listens, once', () => {
    const stop = new Stop();
    const heard: string[] = [];
    const left = (): void => void heard.push('left');
    stop.addEventListener('abort', () => heard.push(`stopped: ${stop.aborted}`));
    stop.addEventListener('abort', left);
    stop.removeEventListener('abort', left);
    stop.removeEventListener('abort', left);
    stop.abort();
    const { reason } = stop;
    stop.abort();
    expect(heard).toEqual(['stopped: true']);
    expect(reason).toBeInstanceOf(Error);
    expect(stop.reason).toBe(reason);
  });

  it('is heard by who waits', async () => {
    const stop = new Stop();
    const waiting = unlessAborted(new Promise<string>(() => undefined), stop);
    stop.abort();
    await expect(waiting).rejects.toBe(stop.reason);
  });
});
