// <Table caption="Turns" columns={[{ key: 'state', title: 'State', cell: (row) => … }]} rows={…} rowKey={(row) => row.id} />
// A real table. When it is narrower than its content, either scrolls inside itself or (`narrow="cards"`) makes a card of each row.
import type { ReactNode } from 'react';
import './table.css';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  /** `null` for what there is nothing of: a dash, and left out of a card. */
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand on the right. */
  readonly isNumber?: boolean;
  /** Names the row, for a screen reader and as a card's title. One per table. */
  readonly isHeading?: boolean;
  /** Takes the width that is left, and cuts its text. */
  readonly isWide?: boolean;
}

export interface TableProps<Row> {
  readonly caption: string;
  /** Read by everybody, or by screen readers alone, where a heading says it. */
  readonly isCaptionShown?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string | number;
  readonly narrow?: 'cards' | 'scroll';
  /** Old data while new data is on its way. */
  readonly isBusy?: boolean;
  readonly className?: string;
}

export function Table<Row>({
  caption,
  isCaptionShown = false,
  columns,
  rows,
  rowKey,
  narrow = 'scroll',
  isBusy = false,
  className = '',
}: TableProps<Row>) {
  return (
    // A region that scrolls has to be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="table-frame" data-narrow={narrow} role="group" aria-label={caption} tabIndex={0}>
      <table className={`table ${className}`} aria-busy={isBusy}>
        <caption className={isCaptionShown ? undefined : 'only-heard'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ key, title, isNumber, isWide }) => (
              <th key={key} scope="col" data-number={isNumber || undefined} data-wide={isWide || undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ key, title, cell, isNumber, isHeading, isWide }) => {
                const content = cell(row);
                const data = {
                  'data-title': title,
                  'data-empty': content === null || undefined,
                  'data-number': isNumber || undefined,
                  'data-wide': isWide || undefined,
                };
                return isHeading ? (
                  <th key={key} scope="row" {...data}>
                    {content ?? <span className="muted">–</span>}
                  </th>
                ) : (
                  <td key={key} {...data}>
                    {content ?? <span className="muted">–</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
