/** Microseconds of the machine's monotonic clock: the same in every process of the machine. */
export function monotonicUs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1e3;
}
