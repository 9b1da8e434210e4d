import { manifest } from '../testing/fixtures';
import { announcementId, announcements, planEngine, versionsToHold } from './publication-plan';

const all = [
  manifest({ version: 1, state: 'published' }),
  manifest({ version: 2, state: 'published' }),
  manifest({ version: 3, state: 'refused' }),
  manifest({ version: 4, state: 'published' }),
  manifest({ version: 5, state: 'published' }),
  manifest({ version: 6, state: 'committed' }),
];

describe('versionsToHold', () => {
  it('are the three newest published ones, the serving one first', () => {
    expect(versionsToHold(all)).toEqual([5, 4, 2]);
  });
});

describe('planEngine', () => {
  it.each([
    { models: ['seed'], load: [5, 4, 2], unload: [], why: 'a new or restarted engine' },
    {
      models: ['seed', 'hindcast-v000005', 'hindcast-v000004', 'hindcast-v000002'],
      load: [],
      unload: [],
      why: 'up to date',
    },
    {
      models: ['seed', 'hindcast-v000001', 'hindcast-v000004'],
      load: [5, 2],
      unload: ['hindcast-v000001'],
      why: 'behind',
    },
    {
      models: ['hindcast-v000003', 'other-adapter'],
      load: [5, 4, 2],
      unload: ['hindcast-v000003'],
      why: 'holds a refused one and a stranger',
    },
    { models: ['hindcast-v000006'], load: [5, 4, 2], unload: [], why: 'holds the one under examination' },
  ])('$models: $why', ({ models, load, unload }) => {
    expect(planEngine(models, versionsToHold(all), 6)).toEqual({ load, unload });
  });
});

describe('announcements', () => {
  it('are of every version that was settled, oldest first, each with an id of its own', () => {
    expect(announcements(all.toReversed()).map(announcementId)).toEqual([
      'policy.1.published',
      'policy.2.published',
      'policy.3.refused',
      'policy.4.published',
      'policy.5.published',
    ]);
  });
});
