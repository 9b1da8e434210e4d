import {
  abandoned,
  admits,
  answered,
  closedCircuit,
  completed,
  entered,
  failed,
  foundHealthy,
  type Circuit,
  type FailureKind,
} from './circuit';

const settings = { threshold: 3, pauseMs: 1_000 };

type Step =
  | readonly ['fail', number, FailureKind?]
  | readonly ['send' | 'abandon', number]
  | readonly ['answer' | 'complete' | 'healthy'];

const step = (circuit: Circuit, [name, now = 0, kind]: Step): Circuit => {
  switch (name) {
    case 'fail':
      return failed(circuit, (kind as FailureKind | undefined) ?? 'status', now, settings);
    case 'send':
      return entered(circuit, now, settings);
    case 'abandon':
      return abandoned(circuit, now);
    case 'answer':
      return answered(circuit);
    case 'complete':
      return completed(circuit);
    case 'healthy':
      return foundHealthy(circuit);
  }
};

const opened: Step[] = [
  ['fail', 0],
  ['fail', 0],
  ['fail', 0],
];
const openedBy = (kind: FailureKind): Step[] => [...opened.slice(1), ['fail', 0, kind]];

const rows: { reason: string; steps: Step[]; state: Circuit['state']; admitsAt: [number, boolean][] }[] = [
  { reason: 'new', steps: [], state: 'closed', admitsAt: [[0, true]] },
  { reason: 'fewer failures than the threshold', steps: opened.slice(1), state: 'closed', admitsAt: [[0, true]] },
  {
    reason: 'as many failures in a row as the threshold',
    steps: opened,
    state: 'open',
    admitsAt: [
      [999, false],
      [1_000, true],
    ],
  },
  {
    reason: 'a whole answer between failures',
    steps: [opened[0]!, opened[1]!, ['answer'], ['complete'], opened[2]!],
    state: 'closed',
    admitsAt: [[0, true]],
  },
  {
    reason: 'answers that begin and always break off',
    steps: [opened[0]!, ['answer'], opened[1]!, ['answer'], opened[2]!],
    state: 'open',
    admitsAt: [[0, false]],
  },
  {
    reason: 'failures of requests that were under way do not prolong the pause',
    steps: [...opened, ['fail', 900]],
    state: 'open',
    admitsAt: [[1_000, true]],
  },
  {
    reason: 'one request tries, the others wait',
    steps: [...opened, ['send', 1_000]],
    state: 'half-open',
    admitsAt: [
      [1_001, false],
      [1_999, false],
    ],
  },
  {
    reason: 'a try without an answer does not keep the others out for ever',
    steps: [...opened, ['send', 1_000]],
    state: 'half-open',
    admitsAt: [[2_000, true]],
  },
  {
    reason: 'the try is answered',
    steps: [...opened, ['send', 1_000], ['answer']],
    state: 'closed',
    admitsAt: [[1_000, true]],
  },
  {
    reason: 'the try fails',
    steps: [...opened, ['send', 1_000], ['fail', 1_200]],
    state: 'open',
    admitsAt: [
      [2_199, false],
      [2_200, true],
    ],
  },
  {
    reason: 'the client of the try leaves',
    steps: [...opened, ['send', 1_000], ['abandon', 1_100]],
    state: 'open',
    admitsAt: [[1_100, true]],
  },
  {
    reason: 'an old answer that ends late proves nothing',
    steps: [...opened, ['complete']],
    state: 'open',
    admitsAt: [[0, false]],
  },
  {
    reason: 'reachable again',
    steps: [...openedBy('unreachable'), ['healthy']],
    state: 'closed',
    admitsAt: [[0, true]],
  },
  { reason: 'restarted', steps: [...openedBy('cut'), ['healthy']], state: 'closed', admitsAt: [[0, true]] },
  {
    reason: 'healthy by its own account while it answers with errors',
    steps: [...openedBy('status'), ['healthy']],
    state: 'open',
    admitsAt: [[0, false]],
  },
  {
    reason: 'healthy by its own account while it does not answer',
    steps: [...openedBy('timeout'), ['healthy']],
    state: 'open',
    admitsAt: [[0, false]],
  },
];

describe('circuit', () => {
  it.each(rows)('$reason: $state', ({ steps, state, admitsAt }) => {
    const circuit = steps.reduce(step, closedCircuit);
    expect(circuit.state).toBe(state);
    for (const [now, expected] of admitsAt) expect([now, admits(circuit, now)]).toEqual([now, expected]);
  });

  it('never opens with threshold 0', () => {
    let circuit = closedCircuit;
    for (let i = 0; i < 100; i++) circuit = failed(circuit, 'cut', 0, { threshold: 0, pauseMs: 1 });
    expect(circuit.state).toBe('closed');
  });
});
