import type { CurrentPolicy, VersionRow } from '@hindcast/contracts';
import { takenBack, versionsText, versionTimeline } from './version-timeline';

const row = (version: number, more: Partial<VersionRow> = {}): VersionRow => ({
  version,
  state: version === 0 ? 'base' : 'published',
  reason: null,
  parent: version === 0 ? null : version - 1,
  adapter: version === 0 ? null : `hindcast-v${version}`,
  at: version * 1000,
  driftNats: null,
  trainedTurns: 4,
  served: { turns: 0, judged: 0, meanEvalScore: null, hintRate: null },
  ...more,
});
const current = (version: number, more: Partial<CurrentPolicy> = {}): CurrentPolicy => ({
  version,
  adapter: version === 0 ? null : `hindcast-v${version}`,
  engines: ['http://engine/v1'],
  weights: 'named',
  canary: null,
  at: 0,
  ...more,
});
const canary = (version: number, share: number): CurrentPolicy['canary'] => ({
  version,
  adapter: `hindcast-v${version}`,
  engines: [],
  share,
  at: 0,
});

describe('the timeline of versions', () => {
  it('comes newest first and says which one serves and which is on trial, with their shares', () => {
    const timeline = versionTimeline([row(0), row(1), row(2)], current(1, { canary: canary(2, 0.25) }));
    expect(timeline.map((entry) => [entry.row.version, entry.role, entry.share])).toEqual([
      [2, 'on-trial', 0.25],
      [1, 'serving', 0.75],
      [0, null, null],
    ]);
  });

  it('takes the row that was read last', () => {
    const [entry] = versionTimeline([row(1), row(1, { state: 'rolled-back' })], current(0));
    expect(entry!.row.state).toBe('rolled-back');
  });

  it('goes back to earlier versions that were not refused or rolled back', () => {
    const rows = [row(0), row(1), row(2, { state: 'refused' }), row(3, { state: 'rolled-back' }), row(4), row(5)];
    const timeline = versionTimeline(rows, current(4));
    expect(timeline.filter((entry) => entry.canRollBackTo).map((entry) => entry.row.version)).toEqual([1, 0]);
  });
});

describe('a version whose weights the trainer has deleted', () => {
  const rows = [row(0), row(1), row(2), row(3), row(4)];
  const backTo = (kept: number[] | null) =>
    versionTimeline(rows, current(4), kept).flatMap((entry) => (entry.canRollBackTo ? [entry.row.version] : []));

  it('is no way back; the base model always is', () => expect(backTo([4, 3])).toEqual([3, 0]));
  it('says so, and only where it would be one otherwise', () => {
    const timeline = versionTimeline(rows, current(3), [3, 2]);
    expect(timeline.filter(({ isDeleted }) => isDeleted).map((entry) => entry.row.version)).toEqual([1]);
  });
  it('is not known of while the trainer has not said', () => expect(backTo(null)).toEqual([3, 2, 1, 0]));
});

describe('a roll-back', () => {
  it('takes back what was published after the version, and a trial', () => {
    const rows = [row(1), row(2), row(3, { state: 'refused' }), row(4), row(5)];
    const timeline = versionTimeline(rows, current(4, { canary: canary(5, 0.1) }));
    expect(takenBack(timeline, 1)).toEqual([2, 4, 5]);
  });

  it.each<[number[], string]>([
    [[], 'none'],
    [[9], '9'],
    [[7, 9], '7 and 9'],
    [[1, 2, 3, 4], '1, 2, 3 and 4'],
    [[1, 2, 3, 4, 6], '1 to 6 (5 versions)'],
  ])('%j reads %s', (versions, text) => {
    expect(versionsText(versions)).toBe(text);
  });
});
