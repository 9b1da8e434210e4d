// <Bars caption="Gate cases" rows={[{ key, label, count }]} />: counts with their shares, as a table with a bar in each row.
import type { ReactNode } from 'react';
import { percent, whole } from '../core/number';
import './bars.css';

export interface Bar {
  readonly key: string;
  readonly label: ReactNode;
  readonly count: number;
  readonly title?: string | undefined;
}

export function Bars({ caption, rows }: { readonly caption: string; readonly rows: readonly Bar[] }) {
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return (
    <table className="bars">
      <caption className="only-heard">{caption}</caption>
      <tbody>
        {rows.map(({ key, label, count, title }) => (
          <tr key={key} title={title}>
            <th scope="row">{label}</th>
            <td className="number">{whole(count)}</td>
            <td className="bars-share number">{percent(total === 0 ? 0 : count / total, 0)}</td>
            <td className="bars-bar" aria-hidden="true">
              {count > 0 && <span style={{ inlineSize: `${(count / total) * 100}%` }} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
