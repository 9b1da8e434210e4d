import type { Overview } from '@hindcast/contracts';
import { revisionsOf, type Revisions } from './overview';

/** One server-sent event. A later one of the same name replaces it. */
export interface FeedEvent {
  readonly name: 'overview' | 'turns' | 'steps';
  readonly data: object;
}

/** What listeners know. */
export interface FeedState {
  /** JSON of the overview. */
  readonly overview: string;
  /** The last ones that were known. */
  readonly revisions: Revisions;
}

/** What to tell those who know `before`; they then know `state`. A first overview tells only itself: its reader asks for the lists anyway. */
export function feedStep(before: FeedState | null, overview: Overview): { state: FeedState; events: FeedEvent[] } {
  const text = JSON.stringify(overview);
  const found = revisionsOf(overview);
  const known = before?.revisions ?? { turns: null, steps: null };
  const revisions = { turns: found.turns ?? known.turns, steps: found.steps ?? known.steps };
  const events: FeedEvent[] = [];
  if (text !== before?.overview) events.push({ name: 'overview', data: overview });
  if (before && revisions.turns !== known.turns) events.push({ name: 'turns', data: { revision: revisions.turns } });
  if (before && revisions.steps !== known.steps)
    events.push({ name: 'steps', data: { version: overview.policy.version } });
  return { state: { overview: text, revisions }, events };
}

/** An event as it goes over the wire; JSON has no line breaks. */
export const eventText = ({ name, data }: FeedEvent): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
