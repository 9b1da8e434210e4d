import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasonText } from './reasons';

const page = readFileSync(join(__dirname, '../../../../docs/turn-reasons.md'), 'utf8');
const documented = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, reason]) => reason!);

it('finds the reasons of the documentation', () => expect(documented.length).toBeGreaterThan(40));

it.each(documented)('%s has words', (reason) => {
  const example = reason.replace(/<\w+>/, 'something');
  expect(reasonText(example)).toMatch(/^[A-Z].*\.$/);
});

it('names what a family’s reason says beyond it', () =>
  expect(reasonText('off-policy:temperature')).toContain('(temperature)'));

it('does not make up words for a reason that it does not know, nor for what every object has', () => {
  expect(reasonText('brand-new')).toBeNull();
  expect(reasonText('constructor')).toBeNull();
});
