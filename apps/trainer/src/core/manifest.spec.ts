import { manifest } from '../testing/fixtures';
import {
  adapterName,
  deletableVersions,
  earlierVersions,
  nextVersion,
  publishedVersion,
  unpublished,
  versionFolder,
  versionOfAdapter,
  versionsToRollBack,
  Manifest,
} from './manifest';

const versions = (states: readonly Manifest['state'][]) =>
  states.map((state, i) => manifest({ version: i + 1, state }));

describe('names of a version', () => {
  it('are six digits, for folder and adapter', () => {
    expect([versionFolder(123), adapterName(123)]).toEqual(['v000123', 'hindcast-v000123']);
    expect(versionOfAdapter('hindcast-v000123')).toBe(123);
    expect(versionOfAdapter(adapterName(1_234_567))).toBe(1_234_567);
  });
  it.each(['seed', 'hindcast-v12', 'my-hindcast-v000001', 'hindcast-v000001-copy'])('%s is not one of ours', (name) => {
    expect(versionOfAdapter(name)).toBeNull();
  });
});

describe('the files of a version', () => {
  const withFile = (name: string) => Manifest.safeParse(manifest({ checksums: { [name]: 'a'.repeat(64) } })).success;
  it.each(['adapter_model.safetensors', 'optimizer/optimizer.safetensors', 'a..b'])('may be %s', (name) => {
    expect(withFile(name)).toBe(true);
  });
  it.each(['../v000002/manifest.json', 'optimizer/../../../home', '/etc/passwd', '..', 'C:\\x', '..\\x'])(
    'are not outside of its folder: clean-up would delete %s',
    (name) => expect(withFile(name)).toBe(false),
  );
});

describe('the state of the policy', () => {
  it('serves the newest published version, or the base model', () => {
    expect(publishedVersion(versions(['published', 'published', 'refused', 'committed']))).toBe(2);
    expect(publishedVersion(versions(['refused']))).toBe(0);
    expect(publishedVersion([])).toBe(0);
  });
  it('has what was committed and neither published nor refused to finish', () => {
    expect(unpublished(versions(['published', 'committed'])).map(({ version }) => version)).toEqual([2]);
  });
  it('numbers the next version above all that were written or announced', () => {
    expect(nextVersion(versions(['published', 'refused']), 0)).toBe(3);
    expect(nextVersion([], 7)).toBe(8);
  });
  it.each([
    {
      states: ['published', 'published', 'published', 'published', 'published'],
      keep: 3,
      deletable: [2, 1],
      why: 'the newest stay',
    },
    {
      states: ['published', 'published', 'published', 'refused', 'refused', 'committed'],
      keep: 2,
      deletable: [4, 1],
      why: 'what serves stays, and what served before it',
    },
    {
      states: ['published', 'published', 'rolled-back', 'rolled-back', 'rolled-back', 'published'],
      keep: 2,
      deletable: [4, 3, 1],
      why: 'one may go back past versions that were rolled back',
    },
    { states: ['committed', 'refused', 'refused'], keep: 1, deletable: [2], why: 'what awaits its publication stays' },
    { states: ['published', 'refused'], keep: 10, deletable: [], why: 'there are fewer' },
  ] as const)('lets go of the weights of $deletable: $why', ({ states, keep, deletable }) => {
    expect(deletableVersions(versions(states), keep)).toEqual(deletable);
  });
  it('can go back to what served before, and takes back everything above it', () => {
    const all = versions(['published', 'rolled-back', 'published', 'refused', 'published', 'committed']);
    expect(earlierVersions(all)).toEqual([3, 1]);
    expect(versionsToRollBack(all, 1)).toEqual([6, 5, 3]);
    expect(versionsToRollBack(all, 0)).toEqual([6, 5, 3, 1]);
    expect(publishedVersion(versions(['published', 'rolled-back']))).toBe(1);
  });
});

it('as many versions as a function takes no arguments for are counted', () => {
  const many = Array.from({ length: 200_000 }, (_, i) => ({ ...one, version: i + 1 }));
  expect([publishedVersion(many), nextVersion(many, 0)]).toEqual([200_000, 200_001]);
});

const one = manifest({ state: 'published' });
