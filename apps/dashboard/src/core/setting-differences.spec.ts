import type { ServiceReport } from '@hindcast/contracts';
import { appSettings, matchingSettings, settingText } from './setting-differences';

type Setting = ServiceReport['settings'][number];
const setting = (name: string, value: string | null, more: Partial<Setting> = {}): Setting => ({
  name,
  value,
  isSecret: false,
  isSet: value !== null,
  isGiven: false,
  ...more,
});
const service = (app: string, instance: string, settings: Setting[]): ServiceReport => ({
  app,
  instance,
  release: '0.1.0',
  node: 'v22',
  startedAt: 0,
  ready: true,
  checks: [],
  settings,
});

describe('settings of an app', () => {
  it('come given before default, by name', () => {
    const [app] = appSettings([
      service('gateway', 'a', [
        setting('PORT', '1'),
        setting('HOST', 'h'),
        setting('SAMPLING', 'force', { isGiven: true }),
      ]),
    ]);
    expect(app!.settings.map(({ name }) => name)).toEqual(['SAMPLING', 'HOST', 'PORT']);
    expect(app!.differing).toEqual([]);
  });

  it('mark what differs among the replicas, and what one of them does not know', () => {
    const [app] = appSettings([
      service('gateway', 'b-10', [setting('A', '1'), setting('B', '1'), setting('NEW', null)]),
      service('gateway', 'b-9', [setting('A', '1'), setting('B', '2')]),
    ]);
    expect(app!.replicas.map(({ instance }) => instance)).toEqual(['b-9', 'b-10']);
    expect(app!.differing).toEqual(['B', 'NEW']);
    expect(app!.settings.find(({ name }) => name === 'B')!.values.map((value) => value?.value)).toEqual(['2', '1']);
  });

  it('of another app are no difference', () => {
    const apps = appSettings([
      service('trainer', 't', [setting('A', '2')]),
      service('gateway', 'g', [setting('A', '1')]),
    ]);
    expect(apps.map(({ app, differing }) => [app, differing])).toEqual([
      ['gateway', []],
      ['trainer', []],
    ]);
  });

  it('differ in a secret only by whether it is set', () => {
    const secret = (isSet: boolean): Setting => setting('KEY', null, { isSecret: true, isSet });
    const differing = (a: boolean, b: boolean): readonly string[] =>
      appSettings([service('g', 'a', [secret(a)]), service('g', 'b', [secret(b)])])[0]!.differing;
    expect(differing(true, true)).toEqual([]);
    expect(differing(true, false)).toEqual(['KEY']);
    const leaked = ['x', 'y'].map((value) => service('g', value, [setting('KEY', value, { isSecret: true })]));
    expect(appSettings(leaked)[0]!.differing).toEqual([]);
  });

  it('tell an empty value from an unset one', () => {
    const [app] = appSettings([service('g', 'a', [setting('A', '')]), service('g', 'b', [setting('A', null)])]);
    expect(app!.differing).toEqual(['A']);
    expect(app!.settings[0]!.values.map(settingText)).toEqual(['empty', 'unset']);
  });

  it('hide a secret even if it came along', () => {
    expect(settingText(setting('KEY', 'leaked', { isSecret: true }))).toBe('set, hidden');
    expect(settingText(null)).toBe('not known to this release');
  });
});

it('the filter takes all words in any order and case', () => {
  const [app] = appSettings([service('g', 'a', [setting('JUDGE_MAX_TOKENS', '1'), setting('MAX_BATCH', '2')])]);
  const names = (filter: string): string[] => matchingSettings(app!.settings, filter).map(({ name }) => name);
  expect(names('max judge')).toEqual(['JUDGE_MAX_TOKENS']);
  expect(names('  ')).toHaveLength(2);
  expect(names('nothing')).toEqual([]);
});
