import type { Colour, Painter } from '@hindcast/platform/terminal';
import { countGrades, type Finding, type Grade } from './finding';

const MARKS: Readonly<Record<Grade, readonly [string, Colour]>> = {
  ok: ['ok     ', 'green'],
  warning: ['warning', 'yellow'],
  fault: ['FAULT  ', 'red'],
  skipped: ['skipped', 'grey'],
};

/** The findings for a person: what was looked at, what was found, and under it how to mend it. */
export function reportLines(findings: readonly Finding[], { paint, bold }: Painter): string[] {
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, grade, found, mend }) => {
    const [mark, colour] = MARKS[grade];
    const line = `${paint(mark, colour)}  ${check.padEnd(width)}  ${found}`;
    return mend === null ? [line] : [line, `         ${' '.repeat(width)}  ${bold('→')} ${mend}`];
  });
  const { fault, warning } = countGrades(findings);
  const sum =
    fault > 0
      ? paint(`${counted(fault, 'fault')}, ${counted(warning, 'warning')}.`, 'red')
      : warning > 0
        ? paint(`No fault, ${counted(warning, 'warning')}.`, 'yellow')
        : paint('Everything is in order.', 'green');
  return [...lines, '', sum];
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
