import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@hindcast/platform';
import type { z } from 'zod';
import { DispatcherConfig } from '../../../dispatcher/src/config';
import { GatewayConfig } from '../../../gateway/src/config';
import { JudgeConfig } from '../../../judge-svc/src/config';
import { TeacherConfig } from '../../../teacher-svc/src/config';
import { TrainerConfig } from '../../../trainer/src/config';
import {
  GatewaySettings,
  JudgeSettings,
  LedgerSettings,
  TeacherSettings,
  TrainerSettings,
  readSettings,
  startOf,
} from './settings';

it.each<[string, z.ZodObject, z.ZodType]>([
  ['gateway', GatewaySettings, GatewayConfig],
  ['judge-svc', JudgeSettings, JudgeConfig],
  ['teacher-svc', TeacherSettings, TeacherConfig],
  ['dispatcher', LedgerSettings, DispatcherConfig],
  ['trainer', TrainerSettings, TrainerConfig],
])('knows the variables of %s by its names, with its defaults', (app, known, own) => {
  const here = parseConfig(app, known, {}) as Record<string, unknown>;
  const there = parseConfig(app, own, {}) as Record<string, unknown>;
  for (const name of Object.keys(known.shape)) {
    // What the app makes of what is unset is its own affair.
    if (here[name] === undefined) continue;
    expect({ name, value: here[name] }).toEqual({ name, value: there[name] });
  }
});

describe('settings come from', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hindcast-settings-'));
    mkdirSync(join(folder, 'env'));
    for (const app of ['gateway', 'judge-svc', 'trainer'])
      writeFileSync(join(folder, 'env', `${app}.env`), `POLICY_MODEL="of-${app}"\nJUDGE_MODEL="of-${app}"\n`);
    writeFileSync(join(folder, 'file.env'), 'POLICY_MODEL=of-the-file\nJUDGE_MODEL=of-the-file\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('what npm start wrote down for each app, and the environment before that', () => {
    const { gateway, judge, dataDir } = readSettings({}, { dataDir: folder });
    expect([gateway.POLICY_MODEL, judge.JUDGE_MODEL, dataDir]).toEqual(['of-gateway', 'of-judge-svc', folder]);
    expect(readSettings({ POLICY_MODEL: 'mine', JUDGE_MODEL: '' }, { dataDir: folder })).toMatchObject({
      gateway: { POLICY_MODEL: 'mine' },
      judge: { JUDGE_MODEL: 'of-judge-svc' },
    });
  });

  it('an engine that npm start had is started with it again; another one is not', () => {
    writeFileSync(join(folder, 'env', 'engine.env'), 'PORT="8123"\n');
    const settings = readSettings({}, { dataDir: folder });
    expect(startOf(settings, 'engine', 'http://127.0.0.1:8123/v1')).toMatch(
      /start it again with npm start; .*engine\.log/,
    );
    expect(startOf(settings, 'engine', 'http://gpu:8123/v1')).toBeNull();
    expect(startOf(settings, 'demo-judge', 'http://127.0.0.1:8123/v1')).toBeNull();
  });

  it('a file in its place', () => {
    const settings = readSettings({ POLICY_MODEL: 'mine' }, { envFile: join(folder, 'file.env'), dataDir: folder });
    expect([settings.gateway.POLICY_MODEL, settings.judge.JUDGE_MODEL]).toEqual(['mine', 'of-the-file']);
    expect(() => readSettings({}, { envFile: join(folder, 'none') })).toThrow('none cannot be read');
  });
});
