import type { CurrentPolicy, RollbackAnswer, RollbackWish } from '@hindcast/contracts';
import { useEffect, useRef } from 'react';
import { rollbackProgress, type RollbackProgress } from '../../core/rollback-progress';
import { Badge, type Tone } from '../../parts/badge';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';

export interface RollBackStateProps {
  readonly wish: RollbackWish;
  readonly answer: RollbackAnswer | null;
  readonly current: CurrentPolicy;
  /** It was wished here just now: whoever did it is shown what becomes of it. */
  readonly isNew: boolean;
}

const TONES: Record<RollbackProgress['phase'], { readonly tone: Tone; readonly word: string }> = {
  waiting: { tone: 'accent', word: 'waiting for the trainer' },
  failing: { tone: 'warn', word: 'failed, tried again' },
  refused: { tone: 'bad', word: 'refused' },
  done: { tone: 'accent', word: 'done by the trainer' },
  serving: { tone: 'ok', word: 'done' },
};

/** The last roll-back that a person wished for: wish, the trainer's answer, and whether it is served. */
export function RollBackState({ wish, answer, current, isNew }: RollBackStateProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNew) box.current?.focus();
  }, [isNew, wish.id]);
  const { phase, text, isOver } = rollbackProgress(wish, answer, current);
  const { tone, word } = TONES[phase];
  const isAnswered = answer !== null && answer.id === wish.id;
  return (
    <div ref={box} tabIndex={-1} className="roll-back-state">
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
    </div>
  );
}
