/**
 * @throws the signal's reason when it is aborted first. What is waited for may be shared by others and goes on.
 */
export async function unlessAborted<T>(waited: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  if (signal.aborted) stop();
  return Promise.race([waited, left]).finally(() => signal.removeEventListener('abort', stop));
}
