import type { JudgeStatistics } from '@hindcast/contracts';
import { peopleAgreement, SCORE_VALUES, scoreText, type ScoreValue } from '../../core/judge-agreement';
import { counted, decimal, percent, whole } from '../../core/number';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';
import { Table } from '../../parts/table';

const ENOUGH_TURNS = 30;

/** The judge beside people: who said what, how often they say the same, and Cohen's κ. */
export function PeopleMatrix({ human }: { readonly human: JudgeStatistics['human'] }) {
  const { n, matrix, share, kappa } = peopleAgreement(human);
  return (
    <Section
      title="Agreement with people"
      note="Turns that the judge’s votes and a person’s feedback have both scored."
    >
      {n === 0 ? (
        <p className="muted">
          No turn has both. With <code>FEEDBACK_REWARD=override</code> the judge does not score what a person scored
          before; later feedback gives both.
        </p>
      ) : (
        <>
          <Stats>
            <Stat label="Same word" value={percent(share)} note={counted(n, 'turn')} />
            <Stat
              label="Cohen’s κ"
              value={decimal(kappa, 2)}
              note={
                kappa === null ? 'no value: both always say one and the same thing' : '1 is full agreement, 0 is chance'
              }
            />
          </Stats>
          {n < ENOUGH_TURNS && <p className="muted">Below {ENOUGH_TURNS} turns these numbers say little.</p>}
          <Table
            caption="Turns by what the person and what the judge said"
            columns={[
              { key: 'person', title: 'Person', isHeading: true, cell: (person: ScoreValue) => scoreText(person) },
              ...SCORE_VALUES.map((judge) => ({
                key: String(judge),
                title: `Judge ${scoreText(judge)}`,
                isNumber: true,
                cell: (person: ScoreValue) => (
                  <span className="people-count" data-same={person === judge || undefined}>
                    {whole(matrix[person + 1]![judge + 1]!)}
                  </span>
                ),
              })),
            ]}
            rows={SCORE_VALUES}
            rowKey={(person) => person}
          />
        </>
      )}
    </Section>
  );
}
