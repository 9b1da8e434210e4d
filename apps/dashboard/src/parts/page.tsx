// <Page title="Turns" actions={…}>: heading, title of the window, focus after navigation. Every page begins with it.
import { useEffect, useRef, type ReactNode } from 'react';
import { visitsSoFar } from '../router/location';
import './page.css';

export interface PageProps {
  readonly title: string;
  /** One line under the heading. */
  readonly lead?: ReactNode;
  /** Buttons and the like beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Hindcast`;
  }, [title]);
  useEffect(() => {
    if (visitsSoFar() > 0) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className="page-lead">{lead}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** <Section title="Engines">: a titled box of a page. */
export function Section({
  title,
  note,
  actions,
  className = '',
  children,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <section className={`section ${className}`} aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {note !== undefined && <p className="section-note">{note}</p>}
      {children}
    </section>
  );
}
