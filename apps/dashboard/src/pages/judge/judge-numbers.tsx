import type { JudgeStatistics } from '@hindcast/contracts';
import { peopleAgreement, ratio } from '../../core/judge-agreement';
import { judgeTotals } from '../../core/judge-days';
import { counted, numberText, percent, short, whole } from '../../core/number';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';

export function JudgeNumbers({ statistics }: { readonly statistics: JudgeStatistics }) {
  const { turns, votes, abstained, tokens, cost, costPerTurn, costPerDay, tokensPerTurn } = judgeTotals(
    statistics.days,
  );
  const { agreement, human } = statistics;
  const people = peopleAgreement(human);
  return (
    <Section title="The range in numbers">
      <Stats>
        <Stat label="Turns judged" value={whole(turns)} note={counted(votes, 'vote')} />
        <Stat
          label="Abstained"
          value={percent(ratio(abstained, votes))}
          note={`${whole(abstained)} of ${counted(votes, 'vote')}`}
        />
        <Stat
          label="Votes agree"
          value={percent(ratio(agreement.unanimous, agreement.turns))}
          note={
            agreement.turns === 0
              ? 'no turn has two readable eval votes'
              : `unanimous on ${whole(agreement.unanimous)} of ${counted(agreement.turns, 'turn')}`
          }
        />
        <Stat label="Agrees with people" value={percent(people.share)} note={counted(people.n, 'turn')} />
        <Stat
          label="Cost per turn"
          value={costPerTurn === null ? '–' : numberText(costPerTurn, 3)}
          note={
            cost === null
              ? 'no prices are set (JUDGE_PRICE_…)'
              : `${numberText(cost)} in all, ${numberText(costPerDay, 3)} a day`
          }
        />
        <Stat
          label="Tokens"
          value={short(tokens)}
          note={tokensPerTurn === null ? undefined : `${short(Math.round(tokensPerTurn))} per turn`}
        />
      </Stats>
    </Section>
  );
}
