import type { LedgerOverview, Overview } from '@hindcast/contracts';
import { isWell } from './health';

export type LoopNode = 'gateway' | 'judge' | 'teacher' | 'gate' | 'trainer' | 'engines';

/** What went over an arrow of the loop so far, and how much waits on it. */
export interface LoopArrow {
  readonly from: LoopNode;
  readonly to: LoopNode;
  readonly what: string;
  /** `null` while the ledger is away. */
  readonly count: number | null;
  /** `null` where nothing can wait, or it is not known. */
  readonly waiting: number | null;
  readonly waitingWhat: string;
}

type Flow = keyof LedgerOverview['flow'];
type Waiting = string | ((ledger: LedgerOverview) => number) | null;

/** By the consumer whose messages wait, or what the books say. */
const ARROWS: readonly (readonly [LoopNode, LoopNode, string, Flow, Waiting, string])[] = [
  ['engines', 'gateway', 'captured', 'captured', ({ status }) => status.turns.open, 'open'],
  ['gateway', 'judge', 'paired', 'paired', 'judge-svc--rl-v1-turn-paired', 'waiting'],
  ['judge', 'teacher', 'hinted', 'hinted', 'teacher-svc--rl-v1-turn-judged-hinted', 'waiting'],
  ['judge', 'gate', 'unhinted', 'unhinted', 'dispatcher--rl-v1-turn-judged-unhinted', 'waiting'],
  ['teacher', 'gate', 'scored', 'scored', 'dispatcher--rl-v1-turn-scored', 'waiting'],
  ['gate', 'trainer', 'samples', 'ready', ({ status }) => status.waitingSamples, 'waiting'],
  ['trainer', 'engines', 'versions', 'published', null, ''],
];

export function loopArrows(ledger: LedgerOverview | null): LoopArrow[] {
  return ARROWS.map(([from, to, what, flow, waiting, waitingWhat]) => ({
    from,
    to,
    what,
    count: ledger?.flow[flow] ?? null,
    waiting: ledger === null ? null : waitingOf(ledger, waiting),
    waitingWhat,
  }));
}

function waitingOf(ledger: LedgerOverview, waiting: Waiting): number | null {
  if (waiting === null) return null;
  return typeof waiting === 'string' ? (ledger.pending[waiting] ?? null) : waiting(ledger);
}

export interface NodeHealth {
  readonly ok: boolean;
  /** “2 of 3 ok”, or what is wrong; the words are those of the table of health. */
  readonly text: string;
}

const APPS: Readonly<Record<Exclude<LoopNode, 'engines'>, string>> = {
  gateway: 'gateway',
  judge: 'judge-svc',
  teacher: 'teacher-svc',
  gate: 'dispatcher',
  trainer: 'trainer',
};

/** Whether the processes behind a node are well, by the verdict of the table of health. */
export function nodeHealth(node: LoopNode, { engines, services }: Overview): NodeHealth {
  const states =
    node === 'engines' ? engines.map(({ ok }) => ok) : services.filter(({ app }) => app === APPS[node]).map(isWell);
  return share(states, node === 'engines' ? 'none configured' : 'not on the bus');
}

function share(states: readonly boolean[], none: string): NodeHealth {
  const good = states.filter(Boolean).length;
  if (states.length === 0) return { ok: false, text: none };
  return {
    ok: good === states.length,
    text: states.length === 1 ? (good === 1 ? 'ok' : 'wrong') : `${good} of ${states.length} ok`,
  };
}
