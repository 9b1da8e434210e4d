import type { TurnDetail } from '@hindcast/contracts';
import { reasonText } from '../../core/reasons';
import { decisionWords, STATE_MEANINGS } from '../../core/turn-words';
import { latency } from '../../core/time';
import { Badge } from '../../parts/badge';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { CaseBadge, Score } from '../../parts/turn-badges';
import { Link } from '../../router/link';
import { withQuery } from '../../core/route';
import { Fact } from './turn-head';

/** What the gate made of it, why, and the version that was trained. */
export function Decision({ detail }: { readonly detail: TurnDetail }) {
  const { decision, turn } = detail;
  return (
    <Section title="Decision">
      {decision === null ? (
        <p>
          {turn.state === 'closed' && turn.reason !== null
            ? `Never judged. ${reasonText(turn.reason) ?? `Reason: ${turn.reason}.`}`
            : `Not decided yet. ${STATE_MEANINGS[turn.state]}.`}
        </p>
      ) : (
        <>
          <p className="turn-state">
            <CaseBadge gate={decision.case} />
            {decision.reason !== null && <Badge tone="warn">{decision.reason}</Badge>}
          </p>
          <p>{decisionWords(decision)}</p>
        </>
      )}
      {turn.reason !== null && turn.reason !== decision?.reason && turn.state !== 'closed' && (
        <p>
          <Badge tone="warn">{turn.reason}</Badge> {reasonText(turn.reason)}
        </p>
      )}
      {turn.trainedIn !== null ? (
        <p>
          It trained <Link to={withQuery('/ui/policies', { version: turn.trainedIn })}>version {turn.trainedIn}</Link>.
        </p>
      ) : (
        turn.state === 'decided' && turn.case !== 'drop' && turn.reason === null && <p>It waits for the next step.</p>
      )}
      {decision !== null && <DecisionFacts decision={decision} />}
    </Section>
  );
}

function DecisionFacts({ decision }: { readonly decision: NonNullable<TurnDetail['decision']> }) {
  const { hint, verdicts, guards } = decision;
  return (
    <>
      {hint !== null && (
        <figure className="hint">
          <figcaption>Hint</figcaption>
          <blockquote>{hint}</blockquote>
        </figure>
      )}
      <dl className="facts">
        <Fact name="Score">
          <Score value={decision.evalScore} />
        </Fact>
        <Fact name="Reward">
          <Score value={decision.reward} />
          {decision.rewardSource !== null && ` from ${decision.rewardSource}`}
        </Fact>
        <Fact name="Method">{decision.method ?? '–'}</Fact>
        <Fact name="Judge">
          {decision.judgeModel ?? '–'}
          {decision.promptVersion !== null && `, prompt ${decision.promptVersion}`}
          {decision.judgeLatencyMs !== null && `, ${latency(decision.judgeLatencyMs)}`}
        </Fact>
        <Fact name="Teacher">{decision.teacherModel ?? 'none'}</Fact>
        <Fact name="Versions">
          sampled by {decision.policyVersion ?? '–'}, newest then {decision.currentVersion ?? '–'}
        </Fact>
        <Fact name="Decided">
          <Time at={decision.at} />
        </Fact>
        {guards.length > 0 && <Fact name="Guards">{guards.join(', ')}</Fact>}
      </dl>
      {verdicts.length > 0 && (
        <ul className="verdicts" aria-label="Verifiers">
          {verdicts.map(({ verifier, score, detail }) => (
            <li key={verifier}>
              {verifier}: <Score value={score} /> {detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
