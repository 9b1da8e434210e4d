// <Pager hasOlder={page.next !== null} onOlder={…} hasNewer={…} onNewest={…}>: pages by cursor know the next page and the first one.
import type { ReactNode } from 'react';
import { Button } from './button';
import './pager.css';

export interface PagerProps {
  readonly hasOlder: boolean;
  readonly onOlder: () => void;
  /** Not on the first page. */
  readonly hasNewer: boolean;
  readonly onNewest: () => void;
  readonly isAsking?: boolean;
  readonly children?: ReactNode;
}

export function Pager({ hasOlder, onOlder, hasNewer, onNewest, isAsking = false, children }: PagerProps) {
  return (
    <nav className="pager" aria-label="Pages of the list">
      <Button onClick={onNewest} disabled={!hasNewer}>
        Newest
      </Button>
      <Button onClick={onOlder} disabled={!hasOlder} isBusy={isAsking}>
        Older
      </Button>
      {children !== undefined && (
        <span className="muted" role="status">
          {children}
        </span>
      )}
    </nav>
  );
}
