import type { DeadLettersPage as LettersPage } from '@hindcast/contracts';
import { useState } from 'react';
import { useAnswer } from '../../api/use-answer';
import { letterKey, type Letter } from '../../core/letter-key';
import { withQuery } from '../../core/route';
import { Answered } from '../../parts/answered';
import { Empty } from '../../parts/empty';
import { Page, Section } from '../../parts/page';
import { Pager } from '../../parts/pager';
import { useQuery } from '../../router/use-query';
import { LetterDetail } from './letter-detail';
import { LetterDialog, type Confirmation } from './letter-dialog';
import { LetterFilters } from './letter-filters';
import { LetterOutcome } from './letter-outcome';
import { LetterTable } from './letter-table';
import { useLetterOrder } from './use-letter-order';
import './dead-letters.css';

/** Messages that failed for good: look at them, send them again, or do away with them. */
export function DeadLettersPage() {
  const [query, setQuery] = useQuery(['code', 'subject', 'tenant', 'before', 'letter']);
  const { code, subject, tenant, before } = query;
  const answer = useAnswer<LettersPage>(
    withQuery('/admin/v1/dead-letters', { code, subject, tenant, before, limit: 50 }),
    { on: ['turns'], everyMs: 15_000, keep: true },
  );
  const [confirmation, setConfirmation] = useState<Confirmation | null>(null);
  const order = useLetterOrder((letter, isGone) => {
    if (isGone && query.letter === letterKey(letter)) setQuery({ letter: '' });
    answer.again();
  });
  const actions = {
    onReplay: (letter: Letter) => void order.replay(letter, false),
    onDiscard: (letter: Letter) => setConfirmation({ kind: 'discard', letter }),
    running: order.running,
  };
  const isFiltered = code !== '' || subject !== '' || tenant !== '';
  return (
    <Page
      title="Dead letters"
      lead="Messages that failed for good, newest first. Each stays until it is replayed or discarded."
    >
      <LetterFilters
        key={`${code} ${subject} ${tenant}`}
        filters={{ code, subject, tenant }}
        letters={answer.data?.letters ?? []}
        onChange={(filters) => setQuery({ ...filters, before: '', letter: '' })}
      />
      <LetterOutcome order={order} onForce={(letter) => setConfirmation({ kind: 'force', letter })} />
      {query.letter !== '' && (
        <LetterDetail
          key={query.letter}
          letterKey={query.letter}
          actions={actions}
          onClose={() => setQuery({ letter: '' })}
        />
      )}
      <Answered answer={answer} what="the dead letters" lines={8}>
        {({ letters, next }) =>
          letters.length === 0 && before === '' ? (
            isFiltered ? (
              <Empty title="No dead letter is like that." />
            ) : (
              <Empty title="There is no dead letter.">Every message was handled, or is still being tried.</Empty>
            )
          ) : (
            <Section title="Letters">
              <LetterTable
                letters={letters}
                chosen={query.letter}
                actions={actions}
                isBusy={answer.isAsking && before !== ''}
                onInspect={(letter) => setQuery({ letter: letterKey(letter) })}
              />
              <Pager
                hasOlder={next !== null}
                onOlder={() => setQuery({ before: next ?? '', letter: '' })}
                hasNewer={before !== ''}
                onNewest={() => setQuery({ before: '', letter: '' })}
                isAsking={answer.isAsking && before !== ''}
              />
            </Section>
          )
        }
      </Answered>
      <LetterDialog
        confirmation={confirmation}
        onClose={() => setConfirmation(null)}
        onConfirm={({ kind, letter }) => {
          setConfirmation(null);
          void (kind === 'discard' ? order.discard(letter) : order.replay(letter, true));
        }}
      />
    </Page>
  );
}
