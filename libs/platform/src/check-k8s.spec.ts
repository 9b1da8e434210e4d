import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { brokenManifests } from './testing/manifests/broken';
import { goodManifests } from './testing/manifests/good';
import type { Manifest } from './testing/manifests/parts';

const script = resolve(__dirname, '../../../tools/check-k8s/main.mjs');

interface Result {
  readonly overlay: string;
  readonly objects: number;
  readonly problems: readonly { readonly rule: string; readonly object: string; readonly message: string }[];
}

// Each start loads the configuration of every service: seconds, where other tests run beside it.
jest.setTimeout(120_000);

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'hindcast-k8s-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (
  args: readonly string[],
  path = process.env['PATH'] ?? '',
): { status: number | null; out: string; error: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, out: stdout, error: stderr };
};

/** Writes objects as a rendered overlay; every call has a folder of its own. */
let written = 0;
function rendered(objects: readonly Manifest[], overlay = 'production'): string {
  const path = join(folder, String(written++), `${overlay}.yaml`);
  mkdirSync(join(path, '..'));
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  return path;
}

describe('the rules of check:k8s', () => {
  const broken = brokenManifests.map((twin) => {
    const objects = goodManifests();
    twin.change(objects);
    return { ...twin, objects };
  });
  let results: readonly Result[];

  // One process for all twins: it loads every service's configuration.
  beforeAll(() => {
    const files = [rendered(goodManifests()), ...broken.map(({ objects, overlay }) => rendered(objects, overlay))];
    const { out, error } = run(['--json', ...files]);
    if (out === '') throw new Error(error);
    results = JSON.parse(out) as Result[];
  });

  it('find no fault in good manifests', () => expect(results[0]!.problems).toEqual([]));

  it.each(broken.map(({ why, rule }, index) => ({ why, rule, index })))('$rule: $why', ({ index }) => {
    const { rule, also = [], objects, object, says } = broken[index]!;
    const { problems } = results[index + 1]!;
    expect(JSON.stringify(objects)).not.toBe(JSON.stringify(goodManifests()));
    expect([...new Set(problems.map((problem) => problem.rule))]).toEqual([rule, ...also]);
    expect(problems).toContainEqual({
      rule,
      object: expect.stringContaining(object),
      message: expect.stringContaining(says),
    });
  });

  it('have a broken twin each', () => {
    const named = /^Rules: (.*)$/m.exec(run(['--help']).out)![1]!.split(', ');
    expect([...new Set(broken.map(({ rule }) => rule))].sort()).toEqual([...named].sort());
  });
});

describe('check:k8s', () => {
  const untagged = (): Manifest[] => {
    const objects = goodManifests();
    objects.find(({ kind }) => kind === 'StatefulSet').spec.template.spec.containers[0].image = 'nats:latest';
    return objects;
  };

  /** A kubectl that renders the same file whatever it is asked for. */
  function kubectl(objects: readonly Manifest[]): string {
    const bin = mkdtempSync(join(folder, 'bin-'));
    const path = join(bin, 'kubectl');
    writeFileSync(path, `#!/bin/sh\nexec cat ${rendered(objects)}\n`);
    chmodSync(path, 0o755);
    return `${bin}${delimiter}${process.env['PATH']}`;
  }

  it('says one line a problem, then how many there are', () => {
    const { status, out } = run([rendered(untagged())]);
    expect(status).toBe(1);
    const [line, summary] = out.split('\n');
    expect(line).toBe(
      'production · StatefulSet/nats container nats · images · image nats:latest changes under its name; name a version',
    );
    expect(summary).toMatch(/^check:k8s: 1 problem in production \(\d+ objects\); \d+ rules$/);
  });

  it('renders the overlay that it is asked for', () => {
    const { status, out } = run(['--overlay', 'production'], kubectl(untagged()));
    expect({ status, out }).toEqual({ status: 1, out: expect.stringContaining('production · StatefulSet/nats') });
  });

  it('adds what no overlay has', () => {
    const { out } = run([], kubectl(goodManifests()));
    expect(out).toMatch(
      /production \(\d+ objects\).* production \+ monitoring \(\d+ objects\).* gpu \+ load-model\.yaml \(/,
    );
  });

  it('names the overlays when it is asked for another one', () => {
    const { status, error } = run(['--overlay', 'moon'], kubectl(goodManifests()));
    expect({ status, error }).toEqual({
      status: 2,
      error: expect.stringContaining('there is no overlay moon; there are '),
    });
  });

  it('without kubectl, says what to install', () => {
    const { status, error } = run([], folder);
    expect({ status, error }).toEqual({ status: 2, error: expect.stringContaining('install kubectl 1.29 or newer') });
  });

  it('without kubectl, is skipped where that is asked for, and says so', () => {
    const { status, out } = run(['--skip-without-kubectl'], folder);
    expect({ status, out }).toEqual({
      status: 0,
      out: expect.stringContaining('check:k8s skipped, the manifests were not checked'),
    });
  });
});
