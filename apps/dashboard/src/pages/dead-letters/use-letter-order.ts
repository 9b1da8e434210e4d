import type { DeadLetterOutcome } from '@hindcast/contracts';
import { useState } from 'react';
import { useOrder } from '../../api/use-order';
import type { AskFailure } from '../../api/ask';
import { letterKey, type Letter } from '../../core/letter-key';
import { announce } from '../../layout/announcer';

export interface LetterOrder {
  /** What was done last, and to which letter; `null` before the first. */
  readonly last: { readonly kind: 'replay' | 'discard'; readonly letter: Letter } | null;
  readonly outcome: DeadLetterOutcome | null;
  readonly failure: AskFailure | null;
  /** Key of the letter whose order is under way. */
  readonly running: string | null;
  readonly replay: (letter: Letter, force: boolean) => Promise<void>;
  readonly discard: (letter: Letter) => Promise<void>;
  readonly forget: () => void;
}

/** @param onDone called after each order, with whether the letter is gone from the list. */
export function useLetterOrder(onDone: (letter: Letter, isGone: boolean) => void): LetterOrder {
  const order = useOrder<DeadLetterOutcome>();
  const [last, setLast] = useState<LetterOrder['last']>(null);
  const give = async (kind: 'replay' | 'discard', letter: Letter, body: object): Promise<void> => {
    if (order.isRunning) return;
    setLast({ kind, letter });
    const outcome = await order.give(`/admin/v1/dead-letters/${letterKey(letter)}/${kind}`, body);
    if (outcome === null) return;
    announce(`Letter ${letter.sequence}: ${outcome.outcome}. ${outcome.message}`);
    onDone(letter, outcome.outcome !== 'refused');
  };
  return {
    last,
    outcome: order.result,
    failure: order.failure,
    running: order.isRunning && last !== null ? letterKey(last.letter) : null,
    replay: (letter, force) => give('replay', letter, { force }),
    discard: (letter) => give('discard', letter, {}),
    forget: order.forget,
  };
}
