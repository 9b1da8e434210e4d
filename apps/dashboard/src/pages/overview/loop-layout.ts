import type { LoopNode } from '../../core/loop';

/** Where the picture's parts stand, in units of its view box. */
export interface LoopLayout {
  readonly name: 'wide' | 'tall';
  readonly width: number;
  readonly height: number;
  readonly node: { readonly width: number; readonly height: number };
  readonly nodes: Readonly<Record<LoopNode, readonly [x: number, y: number]>>;
  /** By `from-to`: the line, and where its words begin. */
  readonly arrows: Readonly<Record<string, LoopLine>>;
}

export interface LoopLine {
  readonly path: string;
  readonly text: readonly [x: number, y: number];
  readonly anchor: 'start' | 'middle' | 'end';
}

const line = (path: string, x: number, y: number, anchor: LoopLine['anchor'] = 'middle'): LoopLine => ({
  path,
  text: [x, y],
  anchor,
});

export const WIDE: LoopLayout = {
  name: 'wide',
  width: 1_020,
  height: 318,
  node: { width: 150, height: 62 },
  nodes: {
    gateway: [10, 20],
    judge: [290, 20],
    teacher: [570, 20],
    gate: [860, 20],
    trainer: [860, 236],
    engines: [10, 236],
  },
  arrows: {
    'gateway-judge': line('M160 51 H284', 222, 40),
    'judge-teacher': line('M440 51 H564', 502, 40),
    'teacher-gate': line('M720 51 H854', 787, 40),
    'judge-gate': line('M365 82 V124 Q365 134 375 134 H890 Q900 134 900 124 V88', 632, 126),
    'gate-trainer': line('M960 82 V230', 950, 160, 'end'),
    'trainer-engines': line('M860 267 H166', 513, 257),
    'engines-gateway': line('M85 236 V88', 97, 160, 'start'),
  },
};

export const TALL: LoopLayout = {
  name: 'tall',
  width: 330,
  height: 742,
  node: { width: 136, height: 54 },
  nodes: {
    gateway: [60, 8],
    judge: [60, 142],
    teacher: [60, 276],
    gate: [60, 410],
    trainer: [60, 544],
    engines: [60, 678],
  },
  arrows: {
    'gateway-judge': line('M128 62 V136', 138, 96, 'start'),
    'judge-teacher': line('M128 196 V270', 138, 230, 'start'),
    'teacher-gate': line('M128 330 V404', 138, 364, 'start'),
    'judge-gate': line('M196 169 H226 Q236 169 236 179 V427 Q236 437 226 437 H202', 244, 300, 'start'),
    'gate-trainer': line('M128 464 V538', 138, 498, 'start'),
    'trainer-engines': line('M128 598 V672', 138, 632, 'start'),
    'engines-gateway': line('M60 705 H36 Q26 705 26 695 V45 Q26 35 36 35 H54', 34, 96, 'start'),
  },
};
