import fc from 'fast-check';
import { completedLines, stepLine } from './step-metrics-lines';

const step = (version: number) => ({
  version,
  parent: version - 1,
  at: 1_700_000_000_250,
  metrics: { drift_nats: 2, grad_norm: version + 0.5, 'loss/total': -1 },
});
const line = (version: number): string => stepLine(step(version));
const steps = [step(1), step(2), step(3)];
const whole = line(1) + line(2) + line(3);

it('a line has version, parent, time and the numbers of the step itself', () => {
  expect(line(3)).toBe('{"version":3,"parent":2,"time":"2023-11-14T22:13:20.250Z","grad_norm":3.5,"loss/total":-1}\n');
});

it.each([
  { why: 'nothing was written', text: '', expected: whole },
  { why: 'everything is there', text: whole, expected: whole },
  { why: 'the last step is missing', text: line(1) + line(2), expected: whole },
  { why: 'one in the middle is missing', text: line(1) + line(3), expected: whole },
  { why: 'a line was cut off', text: line(1) + line(2).slice(0, 40), expected: whole },
  { why: 'a line was cut off and written over', text: line(1) + line(2).slice(0, 40) + line(3), expected: whole },
  { why: 'the last line has no end', text: whole.trimEnd(), expected: whole },
  { why: 'a line is there twice', text: line(1) + line(2) + line(2) + line(3), expected: whole },
  { why: 'a block of zeros after a power failure', text: `${line(1)}${'\0'.repeat(64)}`, expected: whole },
  { why: 'lines of JSON that are no steps', text: `null\n3\n[]\n{"a":1}\n`, expected: whole },
  {
    why: 'a field that somebody added stays',
    text: '{"version":2,"note":"mine"}\n',
    expected: `${line(1)}{"version":2,"note":"mine"}\n${line(3)}`,
  },
  { why: 'a version without a manifest stays', text: line(7), expected: whole + line(7) },
])('metrics.jsonl is completed: $why', ({ text, expected }) => {
  expect(completedLines(text, steps)).toBe(expected);
});

it('wherever a write was cut off, one completion gives every step one line, and a second changes nothing', () => {
  fc.assert(
    fc.property(fc.nat(whole.length), (cut) => {
      const completed = completedLines(whole.slice(0, cut), steps);
      expect(completed).toBe(whole);
      expect(completedLines(completed, steps)).toBe(whole);
    }),
  );
});
