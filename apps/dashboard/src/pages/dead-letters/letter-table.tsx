import type { DeadLetterRow } from '@hindcast/contracts';
import { appOf, letterKey, type Letter } from '../../core/letter-key';
import { shortId } from '../../core/number';
import { Button } from '../../parts/button';
import { Table, type Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Link } from '../../router/link';

export interface LetterActions {
  readonly onReplay: (letter: Letter) => void;
  readonly onDiscard: (letter: Letter) => void;
  /** Key of the letter whose order is under way. */
  readonly running: string | null;
}

export interface LetterTableProps {
  readonly letters: readonly DeadLetterRow[];
  /** Key of the letter that is inspected; empty for none. */
  readonly chosen: string;
  readonly actions: LetterActions;
  readonly isBusy: boolean;
  readonly onInspect: (letter: Letter) => void;
}

export function LetterTable({ letters, chosen, actions, isBusy, onInspect }: LetterTableProps) {
  const columns: Column<DeadLetterRow>[] = [
    { key: 'sequence', title: 'Letter', isHeading: true, cell: ({ sequence }) => <b className="number">{sequence}</b> },
    { key: 'at', title: 'When', cell: ({ at }) => <Time at={at} /> },
    {
      key: 'subject',
      title: 'Message and code',
      cell: ({ subject, consumer, code }) => (
        <div className="letter-what">
          <code>{subject}</code>
          <span title={consumer}>for {appOf(consumer)}</span>
          <code>{code}</code>
        </div>
      ),
    },
    {
      key: 'error',
      title: 'What went wrong',
      isWide: true,
      cell: ({ error }) => <div className="letter-error">{error}</div>,
    },
    {
      key: 'turn',
      title: 'Turn and tenant',
      cell: ({ turnId, tenant }) => (
        <div className="letter-what">
          <TurnLink turnId={turnId} />
          <span>{tenant}</span>
        </div>
      ),
    },
    {
      key: 'actions',
      title: 'Do',
      cell: (letter) => (
        <div className="letter-actions">
          <Button
            aria-label={`Inspect letter ${letter.sequence}`}
            aria-pressed={chosen === letterKey(letter)}
            onClick={() => onInspect(letter)}
          >
            Inspect
          </Button>
          <LetterButtons letter={letter} actions={actions} />
        </div>
      ),
    },
  ];
  return (
    <Table
      className="letters"
      caption="Dead letters"
      columns={columns}
      rows={letters}
      rowKey={letterKey}
      narrow="cards"
      isBusy={isBusy}
    />
  );
}

export function LetterButtons({ letter, actions }: { readonly letter: Letter; readonly actions: LetterActions }) {
  const { onReplay, onDiscard, running } = actions;
  return (
    <>
      <Button
        aria-label={`Replay letter ${letter.sequence}`}
        isBusy={running === letterKey(letter)}
        onClick={() => onReplay(letter)}
      >
        Replay
      </Button>
      <Button kind="danger" aria-label={`Discard letter ${letter.sequence}`} onClick={() => onDiscard(letter)}>
        Discard…
      </Button>
    </>
  );
}

export function TurnLink({ turnId }: { readonly turnId: string | null }) {
  if (turnId === null) return <span className="muted">none</span>;
  return (
    <Link to={`/ui/turns/${turnId}`} className="mono">
      {shortId(turnId)}
    </Link>
  );
}
