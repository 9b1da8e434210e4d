import type { CurrentPolicy, RollbackAnswer, RollbackWish } from '@hindcast/contracts';
import { rollbackProgress, type RollbackProgress } from '../../core/rollback-progress';
import { Badge, type Tone } from '../../parts/badge';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';

export interface RollBackStateProps {
  readonly wish: RollbackWish;
  readonly answer: RollbackAnswer | null;
  readonly current: CurrentPolicy;
}

const TONES: Record<RollbackProgress['phase'], { readonly tone: Tone; readonly word: string }> = {
  waiting: { tone: 'accent', word: 'waiting for the trainer' },
  failing: { tone: 'warn', word: 'failed, tried again' },
  refused: { tone: 'bad', word: 'refused' },
  done: { tone: 'accent', word: 'done by the trainer' },
  serving: { tone: 'ok', word: 'done' },
};

/** The last roll-back that a person wished for: wish, the trainer's answer, and whether it is served. */
export function RollBackState({ wish, answer, current }: RollBackStateProps) {
  const { phase, text, isOver } = rollbackProgress(wish, answer, current);
  const { tone, word } = TONES[phase];
  const isAnswered = answer !== null && answer.id === wish.id;
  return (
    <Section title={isOver ? 'Last roll-back' : 'Roll-back under way'}>
      <p role="status">
        <Badge tone={tone}>{word}</Badge> {text}
      </p>
      {!isOver && <progress className="roll-back-progress" aria-label="Roll-back under way" />}
      <p className="muted">
        Wished <Time at={wish.at} />
        {wish.reason !== null && <>, because: {wish.reason}</>}
        {isAnswered && (
          <>
            {' '}
            · answered <Time at={answer.at} />
          </>
        )}
      </p>
    </Section>
  );
}
