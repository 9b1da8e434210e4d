import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import * as platform from './config';

const root = join(__dirname, '../../..');

/** The variables that `.env.example` marks as secret, by the file that a section's heading names. */
function markedSecrets(): Map<string, string[]> {
  const sections = readFileSync(join(root, '.env.example'), 'utf8')
    .split(/^# =+ /m)
    .slice(1);
  return new Map(sections.map((section) => [/(\S+\.ts) =+$/m.exec(section)?.[1] ?? '', marksOf(section)]));
}

/** A comment speaks of all variables that follow it. */
function marksOf(section: string): string[] {
  const marked: string[] = [];
  let [isSecret, isComment] = [false, false];
  for (const line of section.split('\n').slice(1)) {
    const name = /^#? ?([A-Z][A-Z0-9_]{2,})=/.exec(line)?.[1];
    if (name !== undefined && isSecret) marked.push(name);
    if (name === undefined) isSecret = (isComment && isSecret) || /\bSecret\./.test(line);
    isComment = name === undefined && line.startsWith('#');
  }
  return marked.sort();
}

/** What the schemas of a config.ts declare secret. */
function declaredSecrets(path: string): string[] {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const module = require(join(root, path)) as Record<string, unknown>;
  const schemas = Object.values(module).filter((value) => value instanceof z.ZodType);
  const common = path.startsWith('apps') ? platform.secretNames(platform.CommonConfig) : new Set<string>();
  const names = schemas.flatMap((schema) => [...platform.secretNames(schema)]).filter((name) => !common.has(name));
  return [...new Set(names)].sort();
}

const apps = readdirSync(join(root, 'apps')).map((app) => `apps/${app}/src/config.ts`);
const sections = markedSecrets();
const paths = ['libs/platform/src/config.ts', ...apps].filter(
  (path) => existsSync(join(root, path)) && sections.has(path),
);

it.each(paths)('%s hides exactly what .env.example calls secret', (path) => {
  expect(sections.get(path)).toEqual(declaredSecrets(path));
});
