import type { LedgerVote, TurnDetail } from '@hindcast/contracts';
import { numberText } from '../../core/number';
import { latency } from '../../core/time';
import { Badge } from '../../parts/badge';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { Score } from '../../parts/turn-badges';

/** Every reply of the judge; its text is folded. */
export function Votes({ detail }: { readonly detail: Pick<TurnDetail, 'votes' | 'turn'> }) {
  const { votes, turn } = detail;
  const priced = votes.filter(({ cost }) => cost !== null);
  return (
    <Section
      title="Votes"
      note={priced.length > 0 ? `Together ${numberText(priced.reduce((sum, { cost }) => sum + cost!, 0))}.` : undefined}
    >
      {votes.length === 0 ? (
        <Empty title="No votes.">
          {turn.state === 'open' || turn.state === 'paired'
            ? 'The judge has not been asked yet.'
            : 'The judge was not asked.'}
        </Empty>
      ) : (
        <ul className="votes">
          {votes.map((vote) => (
            <Vote key={`${vote.kind}-${vote.ordinal}`} vote={vote} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Vote({ vote }: { readonly vote: LedgerVote }) {
  const { kind, ordinal, score, abstained, hint } = vote;
  return (
    <li>
      <details className="vote">
        <summary>
          <span className="vote-name">
            {kind} {ordinal + 1}
          </span>
          {abstained === null ? <Score value={score} /> : <Badge tone="warn">abstained: {abstained}</Badge>}
          <span className="muted">{vote.latencyMs === 0 ? '' : latency(vote.latencyMs)}</span>
          {hint !== null && hint !== '' && <span className="vote-hint">{hint}</span>}
        </summary>
        <dl className="facts">
          <div>
            <dt>Prompt</dt>
            <dd>{vote.promptVersion ?? '–'}</dd>
          </div>
          <div>
            <dt>Tokens</dt>
            <dd>
              {vote.promptTokens ?? '–'} in, {vote.completionTokens ?? '–'} out
            </dd>
          </div>
          <div>
            <dt>Cost</dt>
            <dd>{numberText(vote.cost)}</dd>
          </div>
        </dl>
        <pre className="vote-raw">{vote.raw === '' ? 'No text came.' : vote.raw}</pre>
      </details>
    </li>
  );
}
