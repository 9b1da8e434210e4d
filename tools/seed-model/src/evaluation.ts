import {
  answer,
  complaints,
  correct,
  drawStyle,
  heldOutQuestions,
  hints,
  hintTag,
  opposites,
  type Question,
  random,
  type TrainingMessage,
  wellFormed,
  type Wish,
  wishes,
  wishMet,
} from '@hindcast/seed-world';

/** A conversation that the model answers, and what the answer is checked for. */
export interface Probe {
  readonly asked: Question;
  readonly messages: readonly TrainingMessage[];
  /** What was asked for in words; null: nothing. */
  readonly wish: Wish | null;
}

/** Probes of one kind. */
export interface ProbeSet {
  readonly name: string;
  readonly wish: Wish | null;
  readonly probes: readonly Probe[];
}

/** What the model answered. */
export interface Reply {
  readonly text: string;
  /** Without the end mark. */
  readonly tokens: number;
  /** False when it was cut off. */
  readonly ended: boolean;
}

/** Shares between 0 and 1 over the answers to one probe set. */
export interface Score {
  readonly name: string;
  readonly wish: Wish | null;
  readonly answers: number;
  /** Share that meets the wish; null without one. */
  readonly met: number | null;
  /** Shares that have each manner, wished for or not. */
  readonly manners: Readonly<Record<Wish, number>>;
  readonly wellFormed: number;
  readonly correct: number;
  readonly ended: number;
  readonly meanTokens: number;
}

const complainedAbout = ['plain', 'long', 'kind'] as const;

/**
 * Questions that were never trained on: without a hint, with a hint of each kind in wordings that were never trained on,
 * and after a complaint about an answer in the wrong manner.
 */
export function probeSets(seed: number, questions: number): ProbeSet[] {
  const set = (name: string, wish: Wish | null, messages: (asked: Question) => TrainingMessage[]): ProbeSet => ({
    name,
    wish,
    probes: heldOutQuestions(`${seed}/${name}`, questions).map((asked) => ({ asked, wish, messages: messages(asked) })),
  });
  const rng = random(`${seed}/probes`);
  return [
    set('no hint', null, (asked) => [user(asked.text)]),
    ...wishes.map((wish) =>
      set(`hint ${wish}`, wish, (asked) => [user(asked.text + hintTag + rng.pick(hints[wish].heldOut))]),
    ),
    ...complainedAbout.map((wish) =>
      set(`complaint ${wish}`, wish, (asked) => [
        user(asked.text),
        { role: 'assistant', content: answer(rng, asked, drawStyle(rng, asked.topic, [opposites[wish]])) },
        user(rng.pick(complaints[wish])),
      ]),
    ),
  ];
}

/** Scores the replies to a probe set, in its order. */
export function score({ name, wish, probes }: ProbeSet, replies: readonly Reply[]): Score {
  if (replies.length !== probes.length) throw new RangeError(`${replies.length} replies to ${probes.length} probes`);
  const share = (holds: (reply: Reply, probe: Probe) => boolean): number =>
    probes.filter((probe, index) => holds(replies[index] as Reply, probe)).length / probes.length;
  const has = (manner: Wish) => share(({ text, tokens, ended }) => ended && wishMet(manner, text, tokens));
  return {
    name,
    wish,
    answers: probes.length,
    met: wish === null ? null : has(wish),
    manners: Object.fromEntries(wishes.map((manner) => [manner, has(manner)])) as Record<Wish, number>,
    wellFormed: share(({ text, ended }) => wellFormed(text, ended)),
    correct: share(({ text }, { asked }) => correct(asked, text)),
    ended: share(({ ended }) => ended),
    meanTokens: replies.reduce((sum, { tokens }) => sum + tokens, 0) / replies.length,
  };
}

/** Least share of answers that must meet a hint in an unseen wording. */
export const hintGoal = 0.88;
/** Least shares of well-formed and of correct answers without a hint. */
export const formGoal = 0.92;
export const correctGoal = 0.95;

/** What a model misses of what the demonstration needs, in words; empty when it is good enough. */
export function missedGoals(scores: readonly Score[]): string[] {
  const named = (name: string): Score => {
    const found = scores.find((candidate) => candidate.name === name);
    if (!found) throw new RangeError(`no score for ${name}`);
    return found;
  };
  const base = named('no hint');
  const goals: [string, number, number][] = [
    ...complainedAbout.map((wish): [string, number, number] => [
      `hint ${wish}`,
      named(`hint ${wish}`).met ?? 0,
      hintGoal,
    ]),
    ['well formed', base.wellFormed, formGoal],
    ['correct', base.correct, correctGoal],
  ];
  return goals.flatMap(([name, value, goal]) => (value < goal ? [`${name} ${value.toFixed(3)}, goal ${goal}`] : []));
}

const user = (content: string): TrainingMessage => ({ role: 'user', content });
