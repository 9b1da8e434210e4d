import { useEffect, useRef } from 'react';
import type { DeadLetterOutcome } from '@hindcast/contracts';
import { Badge, type Tone } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Failure } from '../../parts/failure';
import type { Letter } from '../../core/letter-key';
import type { LetterOrder } from './use-letter-order';

const OUTCOMES: Record<DeadLetterOutcome['outcome'], { readonly tone: Tone; readonly word: string }> = {
  replayed: { tone: 'ok', word: 'replayed' },
  discarded: { tone: 'neutral', word: 'discarded' },
  refused: { tone: 'bad', word: 'not replayed' },
  gone: { tone: 'warn', word: 'not there any more' },
};

export interface LetterOutcomeProps {
  readonly order: LetterOrder;
  readonly onForce: (letter: Letter) => void;
}

/** What became of the last replay or discard, in words; the live region says it, too. */
export function LetterOutcome({ order: { last, outcome, failure, forget }, onForce }: LetterOutcomeProps) {
  const box = useRef<HTMLDivElement>(null);
  // The button that was pressed may be gone with its letter.
  useEffect(() => {
    if (outcome !== null) box.current?.focus();
  }, [outcome]);
  if (last === null) return null;
  const { kind, letter } = last;
  if (failure !== null)
    return (
      <Failure
        failure={failure}
        what={`Letter ${letter.sequence} could not be ${kind === 'replay' ? 'replayed' : 'discarded'}`}
      />
    );
  if (outcome === null) return null;
  const { tone, word } = OUTCOMES[outcome.outcome];
  return (
    <div ref={box} tabIndex={-1} className="letter-outcome" data-tone={tone}>
      <p className="letter-error">
        Letter {letter.sequence}: <Badge tone={tone}>{word}</Badge> {outcome.message}
      </p>
      <div className="letter-actions">
        {outcome.outcome === 'refused' && kind === 'replay' && (
          <Button kind="danger" onClick={() => onForce(letter)}>
            Replay all the same…
          </Button>
        )}
        <Button kind="quiet" onClick={forget}>
          Dismiss
        </Button>
      </div>
    </div>
  );
}
