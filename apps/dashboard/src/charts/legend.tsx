import { DASHES } from './plot-options';
import { LINE_COLOURS } from './theme-colours';

export interface LegendEntry {
  readonly label: string;
  /** Value at the place under the cursor, or at the last one. */
  readonly text: string;
  readonly isHidden: boolean;
}

export interface LegendProps {
  readonly place: string;
  readonly kind: 'lines' | 'stack' | 'points';
  readonly entries: readonly LegendEntry[];
  readonly onToggle: (label: string) => void;
}

/** Which line is which, their values, and a button that hides each; a line that is alone cannot be hidden. */
export function Legend({ place, kind, entries, onToggle }: LegendProps) {
  return (
    <div className="chart-legend">
      <span className="chart-place">{place}</span>
      {entries.map(({ label, text, isHidden }, at) =>
        entries.length === 1 ? (
          <span key={label} className="chart-entry">
            <Sample kind={kind} style={at} /> <span>{label}</span> <b className="number">{text}</b>
          </span>
        ) : (
          <button
            key={label}
            type="button"
            className="chart-entry"
            aria-pressed={!isHidden}
            title={isHidden ? `Show ${label}` : `Hide ${label}`}
            onClick={() => onToggle(label)}
          >
            <Sample kind={kind} style={at} /> <span>{label}</span> <b className="number">{text}</b>
          </button>
        ),
      )}
    </div>
  );
}

function Sample({ kind, style }: { readonly kind: LegendProps['kind']; readonly style: number }) {
  return (
    <svg
      width="22"
      height="10"
      viewBox="0 0 22 10"
      aria-hidden="true"
      className="chart-sample"
      data-line={(style % LINE_COLOURS) + 1}
    >
      {kind === 'lines' && (
        <line x1="0" x2="22" y1="5" y2="5" strokeDasharray={DASHES[style % DASHES.length]!.join(' ')} />
      )}
      {kind === 'stack' && <rect x="5" y="0" width="12" height="10" />}
      {kind === 'points' && <circle cx="11" cy="5" r="4" />}
    </svg>
  );
}
