import { manifest } from '../testing/fixtures';
import {
  adapterName,
  deletableVersions,
  nextVersion,
  publishedVersion,
  unpublished,
  versionFolder,
  versionOfAdapter,
} from './manifest';

const versions = (states: readonly ('published' | 'refused' | 'committed')[]) =>
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
  it('keeps the weights of the newest, of what serves, and of what awaits publication', () => {
    const all = versions(['published', 'published', 'refused', 'refused', 'refused', 'committed']);
    expect(deletableVersions(all, 3)).toEqual([3, 1]);
    expect(deletableVersions(all, 10)).toEqual([]);
  });
});
