import { useState } from 'react';
import type { TurnRow, TurnsPage as Turns } from '@hindcast/contracts';
import { useAnswer } from '../../api/use-answer';
import { counted } from '../../core/number';
import { pinRows } from '../../core/pinned-rows';
import { withQuery } from '../../core/route';
import { announce } from '../../layout/announcer';
import { Answered } from '../../parts/answered';
import { Button } from '../../parts/button';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { Pager } from '../../parts/pager';
import { Table } from '../../parts/table';
import { useQuery } from '../../router/use-query';
import { columns } from './turn-columns';
import { FILTERS, TurnFilters } from './turn-filters';
import './turns.css';

const LIMIT = 50;
const idOf = (turn: TurnRow): string => turn.turnId;

export function TurnsPage() {
  const [query, setQuery] = useQuery([...FILTERS, 'before']);
  const path = withQuery('/admin/v1/turns', { ...query, limit: LIMIT });
  const isNewest = query.before === '';
  const answer = useAnswer<Turns>(path, { keep: true, on: isNewest ? ['turns'] : [] });
  const isFiltered = FILTERS.some((name) => query[name] !== '');
  return (
    <Page title="Turns" lead="Every answer that was captured, newest first.">
      <TurnFilters query={query} setQuery={setQuery} />
      <Answered answer={answer} what="the turns" lines={10}>
        {(page) => (
          <TurnList
            // A list of other filters is another list; a page that is kept meanwhile is still the old one.
            key={answer.of}
            page={page}
            isBusy={answer.of !== path}
            isFiltered={isFiltered}
            isNewest={isNewest}
            onOlder={(before) => setQuery({ before })}
            onNewest={() => setQuery({ before: '' })}
          />
        )}
      </Answered>
    </Page>
  );
}

interface TurnListProps {
  readonly page: Turns;
  readonly isBusy: boolean;
  readonly isFiltered: boolean;
  readonly isNewest: boolean;
  readonly onOlder: (before: string) => void;
  readonly onNewest: () => void;
}

function TurnList({ page, isBusy, isFiltered, isNewest, onOlder, onNewest }: TurnListProps) {
  const [pinned, setPinned] = useState(page);
  const { rows, fresh } = pinRows(pinned.turns, page.turns, idOf);
  if (rows.length === 0)
    return isFiltered || !isNewest ? (
      <Empty title="No turn fits.">Take a filter away, or look at the newest turns.</Empty>
    ) : (
      <Empty title="No turns yet.">
        Send a chat request to this gateway, <code>POST /v1/chat/completions</code>; its answer appears here at once.
      </Empty>
    );
  const showFresh = (): void => {
    setPinned(page);
    announce(`${counted(fresh, 'new turn')} shown`);
  };
  return (
    <>
      <div className="turns-new" role="status">
        {fresh > 0 && (
          <Button onClick={showFresh}>
            Show {fresh >= LIMIT ? `${LIMIT} or more new turns` : counted(fresh, 'new turn')}
          </Button>
        )}
      </div>
      <Table caption="Turns, newest first" columns={columns} rows={rows} rowKey={idOf} narrow="cards" isBusy={isBusy} />
      <Pager
        hasOlder={pinned.next !== null}
        onOlder={() => pinned.next !== null && onOlder(pinned.next)}
        hasNewer={!isNewest}
        onNewest={onNewest}
        isAsking={isBusy}
      >
        {counted(rows.length, 'turn')} on this page
      </Pager>
    </>
  );
}
