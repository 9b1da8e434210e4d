import type { CSSProperties } from 'react';
import { levelOf, strengthOf } from '../../core/token-signals';

export interface TokenColour {
  readonly 'data-sign'?: 'raised' | 'lowered';
  /** −4 … 4; 0 has no line under it. */
  readonly 'data-level'?: number;
  readonly style?: CSSProperties;
}

/** What the style sheet colours a token by; nothing where there is no advantage, or none to speak of. */
export function tokenColour(advantage: number | null | undefined, limit: number): TokenColour {
  if (advantage === null || advantage === undefined || advantage === 0) return {};
  const share = `${(strengthOf(advantage, limit) * 100).toFixed(1)}%`;
  return {
    'data-sign': advantage > 0 ? 'raised' : 'lowered',
    'data-level': levelOf(advantage, limit),
    style: { '--share': share } as CSSProperties,
  };
}
