import { counted } from '@hindcast/platform/terminal';
import type { DemoReport } from './report';

export const percent = (share: number | null): string => (share === null ? 'n/a' : `${Math.round(share * 100)} %`);

const LABEL = 33;
const row = (label: string, text: string): string => `  ${label.padEnd(LABEL)}${text}`;
const after = (sessions: number | null): string =>
  sessions === null ? 'never' : `after ${counted(sessions, 'session')}`;

/** The report in words, a line each: this run first, then what the ledger has counted since its data folder was made. */
export function reportLines(report: DemoReport): string[] {
  const { cases, turns, heldOut, wellFormed, ruleRate, sessionsTo, earlier } = report;
  const { persona, feedback, method, seed } = report;
  return [
    `${counted(report.sessions, 'session')} of a ${persona} (${feedback} feedback), method ${method}, seed ${seed}`,
    row('rule met on held-out questions', `${percent(heldOut.before)} → ${percent(heldOut.after)}`),
    row('well-formed answers', `${percent(wellFormed.before)} → ${percent(wellFormed.after)}`),
    row('rule met, first and last ten', `${percent(ruleRate.first10)} → ${percent(ruleRate.last10)}`),
    row('rule met three times in a row', after(sessionsTo.threeInARow)),
    row('rule met in eight of ten', after(sessionsTo.eightOfTen)),
    row('distance from the seed model', `${report.klPerAnswer.toFixed(2)} nats per answer`),
    ...(earlier.captured === 0 && earlier.versions === 0
      ? []
      : [
          row(
            'turns and versions of this run',
            `${turns.captured - earlier.captured} captured, ${report.versions - earlier.versions} published`,
          ),
          'All runs with these data together',
        ]),
    row('turns', `${turns.captured} captured, ${turns.paired} paired, ${turns.untrainable} untrainable`),
    row('gate', `${cases.opdRl} OPD+RL, ${cases.opd} OPD, ${cases.rl} RL, ${cases.drop} dropped`),
    row(
      'training',
      `${counted(report.samplesTrained, 'sample')}, ${counted(report.steps, 'step')}, ${counted(report.versions, 'version')} published; version ${report.servedVersion} serves`,
    ),
  ];
}
