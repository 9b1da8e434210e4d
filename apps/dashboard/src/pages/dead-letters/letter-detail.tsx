import { useEffect, useMemo, useRef, useState } from 'react';
import type { DeadLetterOne } from '../../api/types';
import { useAnswer } from '../../api/use-answer';
import { folded, letterKey as keyOf, letterOf, prettyMessage } from '../../core/letter-key';
import { counted } from '../../core/number';
import { Answered } from '../../parts/answered';
import { Button } from '../../parts/button';
import { Copy } from '../../parts/copy';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';
import { Time } from '../../parts/time';
import { LetterButtons, TurnLink, type LetterActions } from './letter-table';

export interface LetterDetailProps {
  /** As in the address. */
  readonly letterKey: string;
  readonly actions: LetterActions;
  readonly onClose: () => void;
}

const FOLDED_LINES = 40;

/** One letter: what failed, where, and the message. Takes the focus, and gives it to the list when it is closed. */
export function LetterDetail({ letterKey, actions, onClose }: LetterDetailProps) {
  const letter = letterOf(letterKey);
  const answer = useAnswer<DeadLetterOne>(letter === null ? null : `/admin/v1/dead-letters/${keyOf(letter)}`);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const isGone = letter === null || answer.failure?.status === 404;
  return (
    <div ref={box} tabIndex={-1} className="letter-detail">
      <Section
        title={letter === null ? 'Letter' : `Letter ${letter.sequence}`}
        actions={
          <span className="letter-actions">
            {letter !== null && !isGone && <LetterButtons letter={letter} actions={actions} />}
            <Button onClick={onClose}>Close</Button>
          </span>
        }
      >
        {isGone ? (
          <Empty title="There is no such letter any more.">It was replayed, discarded or forgotten.</Empty>
        ) : (
          <Answered answer={answer} what="the letter">
            {(one) => <Letter one={one} />}
          </Answered>
        )}
      </Section>
    </div>
  );
}

function Letter({ one: { letter, message } }: { readonly one: DeadLetterOne }) {
  return (
    <>
      <p className="letter-error">{letter.error}</p>
      <Stats>
        <Stat label="Code" value={<code className="letter-fact">{letter.code}</code>} />
        <Stat
          label="When"
          value={
            <span className="letter-fact">
              <Time at={letter.at} isExact />
            </span>
          }
        />
        <Stat
          label="Tried"
          value={<span className="letter-fact">{counted(letter.deliveries, 'delivery', 'deliveries')}</span>}
        />
        <Stat
          label="Turn"
          value={
            <span className="letter-fact">
              <TurnLink turnId={letter.turnId} />
            </span>
          }
          note={letter.tenant}
        />
      </Stats>
      <p className="letter-way">
        <code>{letter.subject}</code> → <code>{letter.consumer}</code>
      </p>
      {message === null ? (
        <p className="muted">The stream does not hold the message any more: it can be neither shown nor replayed.</p>
      ) : (
        <Message message={message} />
      )}
    </>
  );
}

function Message({ message }: { readonly message: string }) {
  const [isWhole, setWhole] = useState(false);
  const pretty = useMemo(() => prettyMessage(message), [message]);
  const { text, hiddenLines } = folded(pretty, FOLDED_LINES);
  return (
    <div className="letter-message">
      <div className="letter-actions">
        <h3>Message</h3>
        <Copy text={message} what="message" />
      </div>
      {/* A long message scrolls, and has to be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="group" aria-label="Message">
        {isWhole ? pretty : text}
      </pre>
      {hiddenLines > 0 && (
        <Button aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show ${counted(hiddenLines, 'more line', 'more lines')}`}
        </Button>
      )}
    </div>
  );
}
