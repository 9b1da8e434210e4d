import type { CurrentPolicy, RollbackAnswer, RollbackWish } from '@hindcast/contracts';

export interface RollbackProgress {
  readonly version: number;
  /** `waiting`: the trainer has not answered. `failing`: it tries again. `refused`, `done`: over. `serving`: done, and the gateway serves it. */
  readonly phase: 'waiting' | 'failing' | 'refused' | 'done' | 'serving';
  /** What happened, for a person. */
  readonly text: string;
  readonly isOver: boolean;
}

/** Where the last wish stands; an answer to an earlier wish says nothing about it. */
export function rollbackProgress(
  wish: RollbackWish,
  answer: RollbackAnswer | null,
  current: CurrentPolicy,
): RollbackProgress {
  const { version } = wish;
  const name = version === 0 ? 'the base model' : `version ${version}`;
  const because = answer?.message ? `: ${answer.message}` : '.';
  if (answer === null || answer.id !== wish.id)
    return over(
      'waiting',
      `The wish for ${name} is written down. Waiting for the trainer, which takes it up between two steps.`,
    );
  if (answer.state === 'failed')
    return over('failing', `The trainer could not put ${name} back yet and tries again${because}`);
  if (answer.state === 'refused') return over('refused', `The trainer refused to put ${name} back${because}`);
  if (current.version !== version && current.at <= answer.at)
    return over('done', `The trainer has put ${name} back. Waiting for the gateway to serve it.`);
  return current.version === version
    ? over('serving', `${upper(name)} serves again.`)
    : over('serving', `${upper(name)} was put back; meanwhile version ${current.version} serves.`);

  function over(phase: RollbackProgress['phase'], text: string): RollbackProgress {
    return { version, phase, text, isOver: phase === 'refused' || phase === 'serving' };
  }
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
