import type { TurnRow } from '@hindcast/contracts';
import type { ReactNode } from 'react';
import { Badge } from '../../parts/badge';
import { Copy } from '../../parts/copy';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { StateBadge } from '../../parts/turn-badges';
import { Link } from '../../router/link';
import { withQuery } from '../../core/route';
import { reasonText } from '../../core/reasons';
import { whole } from '../../core/number';

/** What it is: state, ids, model, times. */
export function TurnHead({ turn, detail }: { readonly turn: TurnRow; readonly detail: string | null }) {
  return (
    <Section title="Summary">
      <p className="turn-state">
        <StateBadge state={turn.state} />
        {turn.state === 'closed' && turn.reason !== null && (
          <>
            <Badge tone="warn">{turn.reason}</Badge> {reasonText(turn.reason)}
          </>
        )}
        {detail !== null && <span className="muted">{detail}</span>}
      </p>
      <dl className="facts">
        <Fact name="Turn">
          <span className="mono">{turn.turnId}</span> <Copy text={turn.turnId} what="turn id" />
        </Fact>
        {turn.responseId !== null && (
          <Fact name="Response">
            <span className="mono">{turn.responseId}</span> <Copy text={turn.responseId} what="response id" />
          </Fact>
        )}
        <Fact name="Tenant">{turn.tenant}</Fact>
        <Fact name="Session">
          {turn.sessionId === null ? (
            <span className="muted">not named by the client</span>
          ) : (
            <Link className="mono" to={withQuery('/ui/turns', { session: turn.sessionId })}>
              {turn.sessionId}
            </Link>
          )}
        </Fact>
        <Fact name="Answered by">
          {turn.model ?? '–'}
          {turn.policyVersion !== null && ` (version ${turn.policyVersion})`}
        </Fact>
        <Fact name="Tokens">
          {count(turn.promptTokens)} of the prompt, {count(turn.completionTokens)} sampled
        </Fact>
        <Fact name="Captured">
          <Time at={turn.createdAt} />
        </Fact>
        <Fact name="Last change">
          <Time at={turn.updatedAt} />
        </Fact>
      </dl>
    </Section>
  );
}

const count = (tokens: number | null): string => (tokens === null ? 'unknown' : whole(tokens));

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
