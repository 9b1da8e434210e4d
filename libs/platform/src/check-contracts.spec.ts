import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { contracts, queries, surveys } from '@hindcast/contracts';

const repository = resolve(__dirname, '../../..');
const script = join(repository, 'tools/check-contracts.mjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hindcast-check-'));
  for (const path of ['libs/contracts/src', 'docs/subjects.md']) {
    cpSync(join(repository, path), join(root, path), { recursive: true });
  }
  for (const [app, lines] of agreeingApps()) write(`apps/${app}/src/app.ts`, lines.join('\n'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Services that do exactly what the contracts say. */
function agreeingApps(): Map<string, string[]> {
  const apps = new Map<string, string[]>();
  const add = (app: string, line: string): unknown => apps.set(app, [...(apps.get(app) ?? []), line]);
  for (const [name, { publisher, handlers }] of Object.entries(contracts)) {
    if (publisher !== 'libs/platform') add(publisher, `void this.bus.publish('${name}', message);`);
    for (const app of handlers) add(app, `EventPattern(contracts.${name}.subject, { concurrency: 2 });`);
  }
  for (const name of Object.keys(queries)) {
    add('gateway', `void bus.request('${name}', question);`);
    add('dispatcher', `bus.respond('${name}', answer);`);
  }
  for (const name of Object.keys(surveys)) add('gateway', `void bus.gather('${name}', question, 250);`);
  return apps;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const add = (path: string, text: string): void => appendFileSync(join(root, path), `\n${text}`);
const edit = (path: string, from: string, to: string): void => {
  const text = readFileSync(join(root, path), 'utf8');
  expect(text).toContain(from);
  writeFileSync(join(root, path), text.replace(from, to));
};

const run = (): { status: number | null; stderr: string } => {
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  return { status, stderr };
};

it('is content with a tree in which all agree', () => {
  write('apps/gateway/src/app.spec.ts', "bus.publish('sampleReady'); const subject = 'rl.v1.turn.paired';");
  expect(run()).toEqual({ status: 0, stderr: '' });
});

it('names everything that differs', () => {
  add('apps/judge-svc/src/app.ts', "this.bus.publishMade('turnScored', message);");
  edit('apps/gateway/src/app.ts', "void this.bus.publish('turnClosed', message);", '');
  add('apps/gateway/src/app.ts', 'this.bus.publish(name, message); bus.store(subject, id, bytes);');
  add('apps/gateway/src/app.ts', 'EventPattern(contracts.turnHinted.subject);');
  add('apps/trainer/src/app.ts', 'EventPattern(contracts.sampleReady.subject); EventPattern(subject);');
  edit('apps/teacher-svc/src/app.ts', 'EventPattern(contracts.turnHinted.subject, { concurrency: 2 });', '');
  add('apps/trainer/src/app.ts', "bus.respond('status', answer); bus.publish('turnLost', message);");
  write('libs/platform/src/bus.ts', 'const all = `rl.v1.${noun}`; const order = "rl.command.v1.dead-letter.replay";');
  add('apps/trainer/src/app.ts', "bus.gather('services', {}, 250); bus.gather(name, {}, 250);");
  write('e2e/loop.e2e-spec.ts', "const subject = 'rl.v1.turn.paired';");
  write('e2e/turn.mjs', "const subject = 'rl.query.v1.turn';");
  edit('docs/subjects.md', '`rl.v1.turn.closed`', '`rl.v1.turn.ended`');
  edit('docs/subjects.md', 'judge-svc, dispatcher', 'judge-svc');
  const { status, stderr } = run();
  expect(status).toBe(1);
  expect(stderr.trim().split('\n').sort()).toEqual(
    [
      'apps/gateway/src/app.ts: bus.publish must name its message by a string literal, so that it can be checked',
      "apps/gateway/src/app.ts: bus.store is the platform's own; publish by a contract's name",
      'apps/gateway/src/app.ts: gateway must not handle turnHinted',
      'apps/judge-svc/src/app.ts: judge-svc must not publish turnScored',
      'apps/trainer/src/app.ts: @EventPattern must name its subject as contracts.<name>.subject',
      'apps/trainer/src/app.ts: bus.gather must name its message by a string literal, so that it can be checked',
      'apps/trainer/src/app.ts: trainer must not gather services',
      'libs/platform/src/bus.ts: the subject rl.command.v1.dead-letter.replay is written out',
      'apps/trainer/src/app.ts: publish of turnLost, which no contract names',
      'apps/trainer/src/app.ts: trainer must not respond status',
      'docs/subjects.md has rl.v1.turn.ended, which no contract names',
      'docs/subjects.md lacks rl.v1.turn.closed',
      'docs/subjects.md says gateway → judge-svc of rl.v1.turn.paired, the code says gateway → dispatcher, judge-svc',
      'e2e/turn.mjs: the subject rl.query.v1.turn is written out',
      'gateway does not publish turnClosed, as its contract says',
      'libs/platform/src/bus.ts: the subject rl.v1. is written out',
      'teacher-svc does not handle turnHinted, as its contract says',
      'trainer handles sampleReady 2 times',
    ].sort(),
  );
});
