// <Badge tone="ok">trained</Badge>: a short word with a colour; the word alone says it, too.
import type { ReactNode } from 'react';
import './badge.css';

export type Tone = 'neutral' | 'accent' | 'ok' | 'warn' | 'bad';

export function Badge({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <span className="badge" data-tone={tone} title={title}>
      {children}
    </span>
  );
}
