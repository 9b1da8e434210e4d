import type { HindcastError } from '@hindcast/contracts';
import type { Gateway } from '../gateway';
import type { Launch } from '../other-programs';
import type { Env } from '../written-settings';
import { checkAdapters } from './adapters';
import { checkBroker } from './broker';
import { fault, ok, type Finding } from './core/finding';
import { clockFinding } from './core/machine-findings';
import { checkDatabase } from './database';
import { checkEngine } from './engine';
import { checkJudge } from './judge';
import { checkKeys } from './keys';
import { checkBuild, checkDisks, checkNode } from './machine';
import { checkServices } from './services';
import { readSettings, type Settings } from './settings';
import { checkTeachers } from './teacher';
import { checkTokenizers } from './tokenizer';

export interface Examination {
  readonly env: Env;
  readonly envFile?: string;
  readonly dataDir?: string;
  readonly gateway: Gateway;
  readonly launch: Launch;
  /** Says which part is done. */
  readonly onDone: (part: string) => void;
}

/** Looks at everything that a deployment stands on, all at once, and returns what it found in the order of the way a turn takes. */
export async function examine(examination: Examination): Promise<Finding[]> {
  const machine = [...checkNode(), ...checkBuild()];
  let settings: Settings;
  try {
    settings = readSettings(examination.env, examination);
  } catch (error) {
    const found = (error as HindcastError).message.replace(/\s*\n\s*/g, ' ');
    return [...machine, fault('settings', found, 'Correct these variables; .env.example explains each.')];
  }
  const { onDone, gateway, launch, env } = examination;
  const part = async <T extends object>(
    name: string,
    looking: Promise<T>,
    otherwise: (found: Finding) => T,
  ): Promise<T> =>
    looking
      .catch((error: Error) =>
        otherwise(
          fault(
            name,
            `could not be looked at: ${error.message}`,
            'Run it again; if it stays, it is a mistake of this program.',
          ),
        ),
      )
      .finally(() => onDone(name));
  const alone = (found: Finding): Finding[] => [found];
  const withClock = (found: Finding) => ({ findings: alone(found), clockMs: null });
  const engines = Promise.all(settings.gateway.POLICY_BASE_URL.map((url) => checkEngine(url, settings)));
  const [broker, database, services, enginesFound, tokenizers, adapters, teachers, judge, disks] = await Promise.all([
    part('broker', checkBroker(settings, env), withClock),
    part('database', checkDatabase(settings), withClock),
    part('services', checkServices(gateway), withClock),
    part('engine', engines, () => []),
    part(
      'tokenizer',
      engines.then(async (looks) =>
        (await Promise.all(looks.filter(({ answer }) => answer).map((look) => checkTokenizers(look, settings)))).flat(),
      ),
      alone,
    ),
    part('adapters', checkAdapters(settings), alone),
    part(
      'teacher',
      engines.then((looks) =>
        checkTeachers(
          settings,
          looks.find(({ answer }) => answer),
        ),
      ),
      alone,
    ),
    part('judge', checkJudge(settings, launch), alone),
    part('disk', checkDisks(settings), alone),
  ]);
  const clocks = {
    broker: broker.clockMs,
    database: database.clockMs,
    gateway: services.clockMs,
    ...Object.fromEntries(enginesFound.map(({ name, clockMs }) => [name, clockMs])),
  };
  return [
    ...machine,
    ok('settings', `from ${settings.source}`),
    ...broker.findings,
    ...database.findings,
    ...enginesFound.flatMap(({ findings }) => findings),
    ...tokenizers,
    ...adapters,
    ...teachers,
    ...judge,
    ...checkKeys(settings),
    ...disks,
    clockFinding(clocks),
    ...services.findings,
  ];
}
