// <Empty title="No turns yet">what to do</Empty>: nothing is there, and that is no fault.
import type { ReactNode } from 'react';
import './empty.css';

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}
