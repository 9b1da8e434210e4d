// <Loading what="Loading turns" />: says what is awaited, and shows where it will be. Appears after a moment only, so that a fast
// answer does not flicker.
import { useAwaited } from './busy';
import './loading.css';

export function Loading({ what, lines = 4 }: { readonly what: string; readonly lines?: number }) {
  useAwaited();
  return (
    <div className="loading" role="status">
      <p>{what}…</p>
      <div className="loading-lines" aria-hidden="true">
        {Array.from({ length: lines }, (_, i) => (
          <span key={i} />
        ))}
      </div>
    </div>
  );
}
