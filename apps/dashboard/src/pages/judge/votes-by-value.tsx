import type { JudgeStatistics } from '@hindcast/contracts';
import { kindStatistics, scoreText, type ScoreValue, type VoteKind } from '../../core/judge-agreement';
import { percent, whole } from '../../core/number';
import { Section } from '../../parts/page';
import { Table } from '../../parts/table';
import { ShareBar } from './share-bar';

const MEANINGS: Record<VoteKind, Record<ScoreValue, string>> = {
  eval: { [-1]: 'the answer failed', 0: 'nobody can tell', 1: 'the answer worked' },
  hint: { [-1]: 'nothing to learn', 0: '', 1: 'there was something to learn' },
};
const ABSTENTIONS: Readonly<Record<string, string>> = {
  unreadable: 'a reply without a decision',
  timeout: 'no answer in time',
  error: 'the request failed',
  'breaker-open': 'the judge was not asked: it had failed too often',
};

interface Bar {
  readonly key: string;
  readonly label: string;
  readonly meaning: string;
  readonly count: number;
  readonly share: number | null;
}

/** Readable votes by value, and why the others abstained. */
export function VotesByValue({ kind, statistics }: { readonly kind: VoteKind; readonly statistics: JudgeStatistics }) {
  const { readable, abstained, abstentionRate, votes, abstentions } = kindStatistics(kind, statistics);
  const title = kind === 'eval' ? 'Score votes' : 'Hint votes';
  return (
    <Section
      title={title}
      note={`${whole(readable)} readable, ${whole(abstained)} abstained${abstentionRate === null ? '' : ` (${percent(abstentionRate)})`}`}
    >
      <Bars
        caption={`${title} by value, shares of the readable ones`}
        noun="Vote"
        bars={votes.map(({ score, count, share }) => ({
          key: String(score),
          label: scoreText(score),
          meaning: MEANINGS[kind][score],
          count,
          share,
        }))}
      />
      {abstentions.length > 0 && (
        <>
          <h3>Abstained</h3>
          <Bars
            caption={`${title} that abstained, shares of all of them`}
            noun="Reason"
            bars={abstentions.map(({ reason, count, share }) => ({
              key: reason,
              label: reason,
              meaning: ABSTENTIONS[reason] ?? '',
              count,
              share,
            }))}
          />
        </>
      )}
    </Section>
  );
}

function Bars({
  caption,
  noun,
  bars,
}: {
  readonly caption: string;
  readonly noun: string;
  readonly bars: readonly Bar[];
}) {
  return (
    <Table
      caption={caption}
      columns={[
        {
          key: 'label',
          title: noun,
          isHeading: true,
          cell: ({ label, meaning }: Bar) => (
            <>
              <b>{label}</b> <span className="muted">{meaning}</span>
              <ShareBar share={bars.find((bar) => bar.label === label)?.share ?? 0} />
            </>
          ),
        },
        { key: 'count', title: 'Votes', isNumber: true, cell: ({ count }) => whole(count) },
        { key: 'share', title: 'Share', isNumber: true, cell: ({ share }) => percent(share) },
      ]}
      rows={bars}
      rowKey={({ key }) => key}
    />
  );
}
