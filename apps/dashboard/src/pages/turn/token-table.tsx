import { useEffect, useRef, useState } from 'react';
import { decimal, signed } from '../../core/number';
import { rowWindow } from '../../core/row-window';
import { visibleText } from '../../core/token-chunks';
import { readToken, type TokenSignals } from '../../core/token-signals';
import { tokenColour } from './token-colour';
import '../../parts/table.css';
import './tokens.css';

/** Height of a row in px; the style sheet sets the same. */
const ROW_HEIGHT = 28;
const DIGITS = 4;
const COLUMNS = [
  '#',
  'Token',
  'Id',
  'Rollout',
  'Teacher',
  'T − R',
  'Old',
  'New',
  'Ratio',
  'Clipped',
  'Advantage',
] as const;

/** One row per token, of which only those in sight are drawn. */
export function TokenTable({ signals }: { readonly signals: TokenSignals }) {
  const frame = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = frame.current!;
    const measure = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  const { from, to } = rowWindow(signals.length, ROW_HEIGHT, place.top, place.height);
  const rows = [];
  for (let t = from; t < to; t += 1) rows.push(<Row key={t} signals={signals} t={t} />);
  return (
    // A region that scrolls has to be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={frame} className="token-table" tabIndex={0} role="group" aria-label="Table of the sampled tokens">
      <table className="table" aria-rowcount={signals.length + 1}>
        <caption className="only-heard">Sampled tokens and their numbers; log-probs in nats</caption>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map((title, i) => (
              <th key={title} scope="col" data-number={i > 1 || undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={from * ROW_HEIGHT} />
          {rows}
          <Space height={(signals.length - to) * ROW_HEIGHT} />
        </tbody>
      </table>
    </div>
  );
}

function Space({ height }: { readonly height: number }) {
  if (height === 0) return null;
  return (
    <tr aria-hidden="true" className="token-space">
      <td colSpan={COLUMNS.length} style={{ blockSize: height }} />
    </tr>
  );
}

function Row({ signals, t }: { readonly signals: TokenSignals; readonly t: number }) {
  const token = readToken(signals, t);
  const gap = token.teacher === null ? null : token.teacher - token.rollout;
  return (
    <tr aria-rowindex={t + 2}>
      <td className="number">{t}</td>
      <th scope="row" className="mono">
        {visibleText(token.text)}
      </th>
      <td data-number>{token.id}</td>
      <td data-number>{decimal(token.rollout, DIGITS)}</td>
      <td data-number>{decimal(token.teacher, DIGITS)}</td>
      <td data-number>{signed(gap, DIGITS)}</td>
      <td data-number>{decimal(token.old, DIGITS)}</td>
      <td data-number>{decimal(token.new, DIGITS)}</td>
      <td data-number>{decimal(token.ratio, DIGITS)}</td>
      <td data-number>{token.isClipped === null ? '–' : token.isClipped ? 'yes' : 'no'}</td>
      <td data-number>
        {token.advantage === null ? (
          '–'
        ) : (
          <span className="token" {...tokenColour(token.advantage, signals.limit)}>
            {signed(token.advantage, DIGITS)}
          </span>
        )}
      </td>
    </tr>
  );
}
