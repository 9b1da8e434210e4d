// <Stat label="Waiting" value="12" note="of 16 for the next step" />, several inside <Stats>.
import type { ReactNode } from 'react';
import './stat.css';

export function Stats({ children }: { readonly children: ReactNode }) {
  return <dl className="stats">{children}</dl>;
}

export function Stat({
  label,
  value,
  note,
}: {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
}) {
  return (
    <div className="stat">
      <dt>{label}</dt>
      <dd className="stat-value">{value}</dd>
      {note !== undefined && <dd className="stat-note">{note}</dd>}
    </div>
  );
}
