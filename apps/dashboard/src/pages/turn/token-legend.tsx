import { decimal } from '../../core/number';
import { LEVELS } from '../../core/token-signals';

const levels = Array.from({ length: 2 * LEVELS + 1 }, (_, i) => i - LEVELS);

/** The scale: symmetric around 0; the line under a token says the direction without colour. */
export function TokenLegend({ limit }: { readonly limit: number }) {
  const end = decimal(limit, 2);
  return (
    <div className="token-legend">
      <span>
        <span className="token" data-level={-LEVELS}>
          lowered
        </span>{' '}
        <span className="number">−{end} or less</span>
      </span>
      <span className="token-scale" aria-hidden="true">
        {levels.map((level) => (
          <span key={level} data-level={level}>
            {level === 0 ? '0' : ''}
          </span>
        ))}
      </span>
      <span>
        <span className="number">+{end} or more</span>{' '}
        <span className="token" data-level={LEVELS}>
          raised
        </span>
      </span>
    </div>
  );
}
