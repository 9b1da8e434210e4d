import type { VersionRow } from '@hindcast/contracts';
import { Badge, type Tone } from '../../parts/badge';

const STATES: Record<VersionRow['state'], { readonly word: string; readonly tone: Tone }> = {
  base: { word: 'base model', tone: 'neutral' },
  published: { word: 'published', tone: 'ok' },
  refused: { word: 'refused', tone: 'bad' },
  'rolled-back': { word: 'rolled back', tone: 'warn' },
};

/** State of a version; `null` while the trainer has not said what became of it. */
export function StateBadge({ state }: { readonly state: VersionRow['state'] | null }) {
  if (state === null) return <Badge>not published yet</Badge>;
  const { word, tone } = STATES[state];
  return <Badge tone={tone}>{word}</Badge>;
}
