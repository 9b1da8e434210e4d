// <Meter label="Waiting samples" value={7} max={16} />: how full something is, as a bar and in words.
import './meter.css';

export function Meter({ label, value, max }: { readonly label: string; readonly value: number; readonly max: number }) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return (
    <div
      className="meter"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={`${value} of ${max}`}
    >
      <span style={{ inlineSize: `${share * 100}%` }} />
    </div>
  );
}
