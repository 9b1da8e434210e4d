import { REPEAT_TOLERANCE_NATS, largestGap } from './repeatability';

it.each([
  { reason: 'D28: rounding of a batched kernel', second: [-0.5, -0.251, -0.125], isAlarm: false },
  { reason: 'D28: another distribution', second: [-0.5, -1.25, -0.125], isAlarm: true },
  { reason: 'a larger one counts as much as a smaller one', second: [-0.5, -0.25, 0.875], isAlarm: true },
  { reason: 'the same', second: [-0.5, -0.25, -0.125], isAlarm: false },
])('$reason: alarm $isAlarm', ({ second, isAlarm }) => {
  expect(largestGap([-0.5, -0.25, -0.125], second) > REPEAT_TOLERANCE_NATS).toBe(isAlarm);
});
