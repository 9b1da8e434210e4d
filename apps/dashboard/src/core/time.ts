const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** “5 min ago”; “just now” below ten seconds, and for a time that is still to come. Both in ms. */
export function relativeTime(at: number, now: number): string {
  return now - at < 10_000 ? 'just now' : `${duration(now - at)} ago`;
}

/** The largest unit that fits, rounded down: “5 min”, “3 h”, “250 ms”. */
export function duration(ms: number): string {
  const unit = UNITS.find((candidate) => ms >= candidate.ms);
  return unit === undefined ? `${Math.max(0, Math.round(ms))} ms` : `${Math.floor(ms / unit.ms)} ${unit.name}`;
}

/** A latency: “250 ms”, “1.2 s”, “75 s”. */
export function latency(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`;
}

/** Date and time to the second, as the reader's system writes them. */
export function exactTime(at: number, locale?: string, timeZone?: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(at);
}
