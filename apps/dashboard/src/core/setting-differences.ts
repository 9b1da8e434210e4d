import type { ServiceReport } from '@hindcast/contracts';

type Setting = ServiceReport['settings'][number];

export interface SettingRow {
  readonly name: string;
  readonly isSecret: boolean;
  /** Given in one replica at least. */
  readonly isGiven: boolean;
  /** Replicas do not have the same. */
  readonly differs: boolean;
  /** One per replica, in their order; `null` where the replica does not know the name. */
  readonly values: readonly (Setting | null)[];
}

export interface AppSettings {
  readonly app: string;
  /** By instance name. */
  readonly replicas: readonly ServiceReport[];
  /** Given before defaults, by name. */
  readonly settings: readonly SettingRow[];
  /** Names whose values differ among the replicas. */
  readonly differing: readonly string[];
  readonly releases: readonly string[];
}

/** Services of one app side by side; apps by name. */
export function appSettings(services: readonly ServiceReport[]): AppSettings[] {
  const apps = [...new Set(services.map(({ app }) => app))].sort((a, b) => a.localeCompare(b));
  return apps.map((app) => {
    const replicas = services
      .filter((service) => service.app === app)
      .sort((a, b) => a.instance.localeCompare(b.instance, 'en', { numeric: true }));
    const settings = settingRows(replicas);
    return {
      app,
      replicas,
      settings,
      differing: settings.filter(({ differs }) => differs).map(({ name }) => name),
      releases: [...new Set(replicas.map(({ release }) => release))].sort(),
    };
  });
}

function settingRows(replicas: readonly ServiceReport[]): SettingRow[] {
  const known = replicas.map(({ settings }) => new Map(settings.map((setting) => [setting.name, setting])));
  const names = [...new Set(known.flatMap((settings) => [...settings.keys()]))];
  return names
    .map((name) => {
      const values = known.map((settings) => settings.get(name) ?? null);
      return {
        name,
        isSecret: values.some((value) => value?.isSecret),
        isGiven: values.some((value) => value?.isGiven),
        differs: new Set(values.map(mark)).size > 1,
        values,
      };
    })
    .sort((a, b) => Number(b.isGiven) - Number(a.isGiven) || a.name.localeCompare(b.name));
}

/** What two replicas must have in common. Of a secret only whether it is set is known. */
function mark(setting: Setting | null): string {
  if (setting === null) return 'unknown';
  return JSON.stringify(setting.isSecret ? [setting.isSet] : [setting.isSet, setting.value]);
}

/** Settings whose name has all of the words, in any case; every setting without a word. */
export function matchingSettings(rows: readonly SettingRow[], filter: string): SettingRow[] {
  const words = filter.toUpperCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ name }) => words.every((word) => name.toUpperCase().includes(word)));
}

/** What stands in the place of a value. */
export function settingText(setting: Setting | null): string {
  if (setting === null) return 'not known to this release';
  if (setting.isSecret) return setting.isSet ? 'set, hidden' : 'unset';
  if (!setting.isSet || setting.value === null) return 'unset';
  return setting.value === '' ? 'empty' : setting.value;
}
