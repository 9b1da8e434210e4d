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
  /** From the words to those on what waits. */
  readonly gap: number;
  /** What went over it stands below its number. */
  readonly isStacked: boolean;
}

const line = (path: string, x: number, y: number, anchor: LoopLine['anchor'] = 'middle', gap = 26): LoopLine => ({
  path,
  text: [x, y],
  anchor,
  gap,
  isStacked: false,
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
  width: 344,
  height: 742,
  node: { width: 136, height: 54 },
  nodes: {
    gateway: [84, 8],
    judge: [84, 142],
    teacher: [84, 276],
    gate: [84, 410],
    trainer: [84, 544],
    engines: [84, 678],
  },
  arrows: {
    'gateway-judge': line('M152 62 V136', 162, 96, 'start', 18),
    'judge-teacher': line('M152 196 V270', 162, 230, 'start', 18),
    'teacher-gate': line('M152 330 V404', 162, 364, 'start', 18),
    'judge-gate': {
      ...line('M220 169 H242 Q252 169 252 179 V427 Q252 437 242 437 H226', 260, 290, 'start', 18),
      isStacked: true,
    },
    'gate-trainer': line('M152 464 V538', 162, 498, 'start', 18),
    'trainer-engines': line('M152 598 V672', 162, 632, 'start', 18),
    'engines-gateway': {
      ...line('M84 705 H18 Q8 705 8 695 V45 Q8 35 18 35 H78', 16, 356, 'start', 18),
      isStacked: true,
    },
  },
};
