import { startSpan, type Span } from '@hindcast/platform';
import type { Ending, OpenTurn } from './core/open-turn';

/** What a turn's end is in its own trace, whoever writes it down, with the request that brought it. */
export function endingSpan({ turnId, trace }: OpenTurn, ending: Ending): Span {
  const reason = ending.kind === 'closed' ? ending.body.reason : null;
  const attributes = { 'hindcast.turn.id': turnId, 'hindcast.reason': reason };
  return startSpan(ending.kind === 'paired' ? 'pair' : 'close', { attributes, links: [ending.trace] }, trace ?? null);
}
