/**
 * Resolves when the work is done, and after `ms` in any case.
 *
 * @param work never rejects
 */
export function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
