import type { Overview, ServiceSummary } from '@hindcast/contracts';
import type { Painter } from '@hindcast/platform/terminal';
import { counted, shortened, textTable } from '@hindcast/platform/terminal';
import { ago } from './times';

/** Reasons that are shown; the rest is summed. */
const MOST_REASONS = 8;
const BAR = 20;

export interface StatusFrame {
  readonly url: string;
  readonly now: number;
  readonly painter: Painter;
}

/** The loop in words and numbers, one line after the other. */
export function statusLines(overview: Overview, { url, now, painter }: StatusFrame): string[] {
  const { ledger, policy } = overview;
  const version =
    policy.version === 0 ? 'the base model' : `version ${policy.version} (${policy.adapter ?? 'no name of its own'})`;
  const canary = policy.canary
    ? `, version ${policy.canary.version} on trial with ${Math.round(policy.canary.share * 100)} % of the sessions`
    : '';
  const rows: [string, string][] = [
    ['Gateway', `${url} · method ${overview.method ?? 'unknown'}`],
    ['Serves', `${version}${policy.since > 0 ? ` since ${ago(policy.since, now)}` : ''}${canary}`],
    ...(ledger ? ledgerRows(ledger, overview.batch, painter) : [unknownLedger(painter)]),
    ...healthRows(overview, painter),
  ];
  return textTable(
    ['', ''],
    rows.map(([name, text]) => [painter.bold(name), text]),
  )
    .split('\n')
    .slice(1);
}

const unknownLedger = (painter: Painter): [string, string] => [
  'Ledger',
  painter.paint('away: the dispatcher or its database does not answer', 'red'),
];

function ledgerRows(
  { status, flow, pending, deadLetters }: NonNullable<Overview['ledger']>,
  batch: Overview['batch'],
  painter: Painter,
): [string, string][] {
  const { turns, cases } = status;
  const reasons = Object.entries(status.reasons)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  const others = reasons.slice(MOST_REASONS).reduce((sum, [, count]) => sum + count, 0);
  const waiting = Object.entries(pending).filter(([, count]) => count > 0);
  return [
    [
      'Turns',
      `${turns.captured} captured = ${turns.paired} paired + ${turns.untrainable} untrainable + ${turns.expired} expired + ${turns.superseded} superseded + ${turns.failed} failed + ${turns.open} open`,
    ],
    [
      'Loop',
      `captured ${flow.captured} → paired ${flow.paired} → hinted ${flow.hinted} (scored ${flow.scored}), unhinted ${flow.unhinted} → ready ${flow.ready} → trained ${flow.trained}, refused ${flow.refused} → versions ${flow.published}`,
    ],
    [
      'Gate',
      `${cases.opdRl} OPD+RL, ${cases.opd} OPD, ${cases.rl} RL, ${cases.drop} dropped, ${cases.deciding} being decided`,
    ],
    ['Next step', batchText(status.waitingSamples, batch)],
    [
      'Trained',
      `${counted(status.samplesTrained, 'sample')} in ${counted(status.steps, 'step')}, ${counted(status.versionsPublished, 'version')} published`,
    ],
    ...reasons
      .slice(0, MOST_REASONS)
      .map(([reason, count], i): [string, string] => [i === 0 ? 'Reasons' : '', `${count} ${reason}`]),
    ...(others > 0 ? [['', counted(others, 'other')] as [string, string]] : []),
    ...waiting.map(([consumer, count], i): [string, string] => [i === 0 ? 'Waiting' : '', `${count} for ${consumer}`]),
    ...(deadLetters > 0
      ? [
          ['Failed', painter.paint(`${counted(deadLetters, 'dead letter')}: npx hindcast deadletters`, 'yellow')] as [
            string,
            string,
          ],
        ]
      : []),
  ];
}

function batchText(waiting: number, batch: Overview['batch']): string {
  if (batch === null)
    return `${counted(waiting, 'sample')} ${waiting === 1 ? 'waits' : 'wait'}; no trainer has started yet`;
  const full = Math.min(BAR, Math.round((BAR * waiting) / batch.size));
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${waiting} of ${counted(batch.size, 'sample')}${batch.min < batch.size ? `, ${batch.min} ${batch.min === 1 ? 'is' : 'are'} enough after a while` : ''}`;
}

function healthRows({ services, engines, broker }: Overview, painter: Painter): [string, string][] {
  const name = (first: boolean, text: string): string => (first ? text : '');
  return [
    ...services.map((service, i): [string, string] => [name(i === 0, 'Services'), serviceText(service, painter)]),
    ...engines.map(({ url, ok, detail, models }, i): [string, string] => [
      name(i === 0, 'Engines'),
      `${mark(ok, painter)} ${url}${detail === null ? '' : `: ${detail}`} ${painter.paint(shortened(models.join(', '), 60), 'grey')}`.trimEnd(),
    ]),
    [
      'Broker',
      `${mark(broker.ok, painter)} ${broker.durability === null ? 'durability unknown' : `what it holds survives ${broker.durability}`}`,
    ],
  ];
}

function serviceText({ app, instance, release, ready, checks }: ServiceSummary, painter: Painter): string {
  const wrong = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail ?? 'not ready'}`);
  const said = wrong.length === 0 ? '' : `: ${wrong.join('; ')}`;
  return `${mark(ready, painter)} ${app} ${painter.paint(`${instance} ${release}`, 'grey')}${said}`;
}

const mark = (ok: boolean, painter: Painter): string =>
  ok ? painter.paint('ok  ', 'green') : painter.paint('away', 'red');
