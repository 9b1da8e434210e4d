import { useCallback, useMemo, useState } from 'react';
import type { ShownTurn } from '@hindcast/contracts';
import { counted, decimal } from '../../core/number';
import { tokenSignals, untoldTexts } from '../../core/token-signals';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { TokenDetails } from './token-details';
import { TokenLegend } from './token-legend';
import { TokenTable } from './token-table';
import { TokenText } from './token-text';
import './tokens.css';

/** The sampled tokens, each coloured by its advantage, with all its numbers on hover, on focus, and as a table. */
export function Tokens({ answer }: { readonly answer: ShownTurn }) {
  const signals = useMemo(() => tokenSignals(answer), [answer]);
  const [view, setView] = useState<'text' | 'table'>('text');
  const [shown, setShown] = useState<number | null>(null);
  const show = useCallback((index: number | null) => setShown(index), []);
  if (signals === null || signals.length === 0)
    return (
      <Section title="Sampled tokens">
        <Empty title="No recording of the tokens is kept.">
          {answer.detail.turn.state === 'open' || answer.detail.turn.state === 'paired'
            ? 'It is read when the turn is decided.'
            : 'The turn was not recorded, or its recording has been deleted.'}
        </Empty>
      </Section>
    );
  const { source, advantages } = signals;
  const untold = untoldTexts(signals);
  return (
    <Section
      title="Sampled tokens"
      note={`${counted(signals.length, 'token')}. ${noteOf(answer, source)}`}
      actions={
        <div role="group" aria-label="Show the tokens as" className="token-views">
          {(['text', 'table'] as const).map((each) => (
            <button
              key={each}
              type="button"
              className="button"
              aria-pressed={view === each}
              onClick={() => setView(each)}
            >
              {each === 'text' ? 'Text' : 'Table'}
            </button>
          ))}
        </div>
      }
    >
      {untold !== null && <p className="muted">{untold}</p>}
      {advantages !== null && <TokenLegend limit={signals.limit} />}
      {view === 'text' ? (
        <div className="token-panes">
          <TokenText signals={signals} shown={shown} onShow={show} />
          <TokenDetails signals={signals} index={shown} />
        </div>
      ) : (
        <TokenTable signals={signals} />
      )}
    </Section>
  );
}

function noteOf({ detail, expected }: ShownTurn, source: 'trained' | 'expected' | null): string {
  if (source === 'trained') return `Advantages as the step to version ${detail.trained?.version} took them.`;
  if (source === 'expected')
    return `Not trained yet: advantages as they would be with the weights of now (reward ${decimal(expected?.wRl ?? null, 2)}, teacher ${decimal(expected?.wOpd ?? null, 2)}).`;
  return 'They have no advantages: nothing was trained on them.';
}
