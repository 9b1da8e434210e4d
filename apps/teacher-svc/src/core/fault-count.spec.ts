import { FaultCount } from './fault-count';

const givenUpAfter = (between: (count: FaultCount, fault: number) => void): number => {
  const count = new FaultCount();
  for (let fault = 1; fault <= 20; fault++) {
    if (count.isGivenUp('turn')) return fault;
    between(count, fault);
  }
  return Infinity;
};

it.each([
  { reason: 'nothing else is scored: the engine is in trouble', between: () => undefined, after: Infinity },
  {
    reason: 'others are scored all the time',
    between: (count: FaultCount) => count.succeeded('other'),
    after: 5,
  },
  {
    reason: 'the engine comes back after eight faults',
    between: (count: FaultCount, fault: number) => {
      if (fault === 8) count.succeeded('other');
    },
    after: 9,
  },
  {
    reason: 'it is scored in between',
    between: (count: FaultCount, fault: number) => count.succeeded(fault === 4 ? 'turn' : 'other'),
    after: 9,
  },
])('gives a turn up after $after faults when $reason', ({ between, after }) => {
  expect(givenUpAfter(between)).toBe(after);
});
