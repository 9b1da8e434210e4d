/** `skipped`: it could not be looked at, or does not apply; `found` says why. */
export type Grade = 'ok' | 'warning' | 'fault' | 'skipped';

/** What one look came to. */
export interface Finding {
  /** Where: `broker`, `engine http://…`. */
  readonly check: string;
  readonly grade: Grade;
  readonly found: string;
  /** How to mend it, with the variable or the command; `null` where nothing is to be done. */
  readonly mend: string | null;
}

export const ok = (check: string, found: string): Finding => ({ check, grade: 'ok', found, mend: null });
export const skipped = (check: string, found: string): Finding => ({ check, grade: 'skipped', found, mend: null });
export const warning = (check: string, found: string, mend: string): Finding => ({
  check,
  grade: 'warning',
  found,
  mend,
});
export const fault = (check: string, found: string, mend: string): Finding => ({ check, grade: 'fault', found, mend });

/** How many of each. */
export function countGrades(findings: readonly Finding[]): Readonly<Record<Grade, number>> {
  const counts = { ok: 0, warning: 0, fault: 0, skipped: 0 };
  for (const { grade } of findings) counts[grade]++;
  return counts;
}
