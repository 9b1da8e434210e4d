import { readFileSync } from 'node:fs';
import path from 'node:path';
import { GUARD_NAMES } from '@hindcast/advantage';
import { ClosedTurn, RefusedSample, TeacherFailure, UntrainableReason } from '@hindcast/contracts';

const root = path.join(__dirname, '../../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const [untrainable] = UntrainableReason.options;

/** Reasons that code itself spells out: `drop('…')`, `reason: '…'`, `? '…' : null`. */
const spelled = ['libs/advantage/src/gate.ts', 'apps/dispatcher/src/core/decide.ts'].flatMap((file) =>
  [...read(file).matchAll(/(?:drop\(|reason: |return |\? |: )'([a-z]+(?:-[a-z]+)+)'/g)].map((match) => match[1]!),
);
const notReasons = ['binary-rl', 'length-mismatch', 'outcome-plus-mean', 'outcome-plus-step'];

test.each([
  ...new Set([
    ...spelled.filter((name) => !notReasons.includes(name)),
    'capture-missing',
    'capture-malformed',
    ...GUARD_NAMES.map((name) => `guard:${name}`),
    ...TeacherFailure.options.map((reason) => `teacher:${reason}`),
    ...RefusedSample.shape.reason.options.map((reason) => `refused:${reason}`),
    ...ClosedTurn.shape.reason.options,
    ...untrainable.options,
    'off-policy:<why>',
    'dead-letter:<code>',
    'unpublishable:<code>',
    'unpublishable:no-recording',
  ]),
])('%s is explained on the page of reasons', (reason) => {
  expect(read('docs/turn-reasons.md')).toContain(`| \`${reason}\``);
});

test('the reasons that the gate spells out are found', () => {
  expect(spelled).toEqual(
    expect.arrayContaining(['method-none', 'no-signal', 'no-hint', 'at-least-one', 'outcome-expired', 'too-large']),
  );
});
