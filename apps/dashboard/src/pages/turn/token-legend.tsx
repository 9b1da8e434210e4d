import { decimal } from '../../core/number';
import { LEVELS } from '../../core/token-signals';
import { tokenColour } from './token-colour';

const levels = Array.from({ length: 2 * LEVELS + 1 }, (_, i) => i - LEVELS);

/** The scale: symmetric around 0; the line under a token says the direction without colour. */
export function TokenLegend({ limit }: { readonly limit: number }) {
  const end = decimal(limit, 2);
  return (
    <div className="token-legend">
      <span>
        <span className="token" {...tokenColour(-limit, limit)}>
          lowered
        </span>{' '}
        <span className="number">−{end} or less</span>
      </span>
      <span className="token-scale" aria-hidden="true">
        {levels.map((level) => (
          <span key={level} {...tokenColour((level / LEVELS) * limit, limit)}>
            {level === 0 ? '0' : ''}
          </span>
        ))}
      </span>
      <span>
        <span className="number">+{end} or more</span>{' '}
        <span className="token" {...tokenColour(limit, limit)}>
          raised
        </span>
      </span>
    </div>
  );
}
