import type { JudgeStatistics } from '@hindcast/contracts';
import { peopleAgreement, SCORE_VALUES, scoreText } from '../../core/judge-agreement';
import { counted, decimal, percent, whole } from '../../core/number';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';

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
          <div className="table-frame" role="group" aria-label="Who said what" tabIndex={0}>
            <table className="table people-matrix">
              <caption className="only-heard">Turns by what the person and what the judge said</caption>
              <thead>
                <tr>
                  <td />
                  {SCORE_VALUES.map((judge) => (
                    <th key={judge} scope="col" data-number>
                      judge {scoreText(judge)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {SCORE_VALUES.map((person, row) => (
                  <tr key={person}>
                    <th scope="row">person {scoreText(person)}</th>
                    {SCORE_VALUES.map((judge, column) => (
                      <td key={judge} data-number data-same={person === judge || undefined}>
                        {whole(matrix[row]![column]!)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Section>
  );
}
