import type { LedgerOverview } from '@hindcast/contracts';
import { counted, whole } from '../../core/number';
import { reasonText } from '../../core/reasons';
import { withQuery } from '../../core/route';
import { CASE_MEANINGS, CASES } from '../../core/turn-words';
import { Bars } from '../../parts/bars';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import { Link } from '../../router/link';

/** Reasons that are listed; the rest is summed up. */
const REASONS_SHOWN = 10;

/** Turns by how they ended, gate cases, reasons. */
export function Books({ ledger }: { readonly ledger: LedgerOverview }) {
  const { turns, cases, reasons } = ledger.status;
  const { captured, ...ends } = turns;
  const sorted = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  const rest = sorted.slice(REASONS_SHOWN).reduce((sum, [, count]) => sum + count, 0);
  return (
    <>
      <Section
        title="Turns"
        note={`${counted(captured, 'turn')} captured.`}
        actions={<Link to="/ui/turns">All turns</Link>}
      >
        <Bars
          caption="Turns by how they ended"
          rows={Object.entries(ends).map(([name, count]) => ({ key: name, label: name, count }))}
        />
        {ledger.deadLetters > 0 && (
          <p>
            <Link to="/ui/dead-letters">{counted(ledger.deadLetters, 'dead letter')}</Link>
          </p>
        )}
      </Section>
      <Section title="Gate" note={`What became of ${whole(turns.paired)} paired turns.`}>
        <Bars
          caption="Paired turns by case of the gate"
          rows={[
            ...(['opdRl', 'opd', 'rl', 'drop'] as const).map((gate) => ({
              key: gate,
              label: <Link to={withQuery('/ui/turns', { case: gate })}>{CASES[gate]}</Link>,
              title: CASE_MEANINGS[gate],
              count: cases[gate],
            })),
            { key: 'deciding', label: 'being decided', count: cases.deciding },
          ]}
        />
      </Section>
      <Section title="Reasons" note="Why turns were dropped, refused or closed.">
        {sorted.length === 0 ? (
          <Empty title="Nothing was dropped." />
        ) : (
          <Bars
            caption="Turns by reason"
            rows={[
              ...sorted.slice(0, REASONS_SHOWN).map(([reason, count]) => ({
                key: reason,
                label: <Link to={withQuery('/ui/turns', { reason })}>{reason}</Link>,
                title: reasonText(reason) ?? undefined,
                count,
              })),
              ...(rest > 0 ? [{ key: '', label: 'others', count: rest }] : []),
            ]}
          />
        )}
      </Section>
    </>
  );
}
