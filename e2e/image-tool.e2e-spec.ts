import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..');
const tool = join(root, 'tools/image');
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'hindcast-image-tool-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** What a process wrote and ended with. */
type Ran = ReturnType<typeof spawnSync> & { readonly stdout: string; readonly stderr: string };

/** Runs a script with one of the tool's functions, which gets the arguments as JSON. A mistake ends it with 1 and its message. */
function call(file: string, name: string, ...args: readonly unknown[]): Ran {
  const script = `import { ${name} } from ${JSON.stringify(join(tool, file))};
    try { ${name}(...JSON.parse(process.argv[1])); }
    catch (error) { console.error(error.message); process.exit(1); }`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(args)], { encoding: 'utf8' });
}

/** Runs the command with a `docker` of ours, or with none. */
function build(args: readonly string[], docker?: string): Ran {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  if (docker !== undefined) {
    writeFileSync(join(bin, 'docker'), `#!/bin/sh\n${docker}\n`);
    chmodSync(join(bin, 'docker'), 0o755);
  }
  return spawnSync(process.execPath, [join(tool, 'main.mjs'), 'build', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: docker === undefined ? bin : `${bin}:/usr/bin:/bin` },
  });
}

describe('npm run image -- build', () => {
  it('asks Docker for each target, tagged with the version', () => {
    const log = join(folder, 'log');
    const { status, stderr } = build(
      ['--app', 'gateway', 'trainer', '--prefix', 'registry.example.com/hindcast', '--push'],
      `echo "$@" >> ${log}`,
    );
    expect([status, stderr]).toEqual([0, expect.stringContaining('[2/2] trainer')]);
    const calls = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('buildx build'));
    expect(calls).toEqual([
      expect.stringMatching(
        /--target=gateway --tag=registry.example.com\/hindcast\/gateway:0\.1\.0 --build-arg=VERSION=0\.1\.0 --build-arg=REVISION=\S+ --push \.$/,
      ),
      expect.stringMatching(/--target=trainer --tag=registry.example.com\/hindcast\/trainer:0\.1\.0 .* --push \.$/),
    ]);
  });

  it('ends with the code of a build that failed', () => {
    const { status, stderr } = build(['--app', 'gateway'], 'case "$2" in build) exit 7;; esac');
    expect([status, stderr]).toEqual([1, expect.stringContaining('the image gateway could not be built')]);
  });

  it.each([
    { what: 'no docker command', docker: undefined, says: 'there is no docker command here' },
    {
      what: 'no engine',
      docker: '[ "$1" = --version ] || { echo "no daemon" >&2; exit 1; }',
      says: 'none answers: no daemon',
    },
    { what: 'no buildx', docker: '[ "$1" != buildx ]', says: 'needs docker buildx' },
  ])('with $what says so, says what works without it, and ends with 3', ({ docker, says }) => {
    const { status, stderr } = build(['--app', 'gateway'], docker);
    expect([status, stderr]).toEqual([3, expect.stringContaining(says)]);
    expect(stderr).toContain('npm run image -- prune');
  });

  it.each([
    { args: ['--tag', 'latest'], says: 'not with latest' },
    { args: ['--platform', 'linux/amd64', 'linux/arm64'], says: 'can only be pushed' },
    { args: ['--platform', 'linux/arm64', '--app', 'trainer'], says: 'linux/amd64 alone' },
    { args: ['--app', 'gatway'], says: 'Allowed choices are gateway' },
  ])('refuses $args', ({ args, says }) => {
    const { status, stderr } = build(['--app', 'gateway', ...args, '--dry-run']);
    expect([status, stderr]).toEqual([1, expect.stringContaining(says)]);
  });
});

/** A checkout with one app, made of these files. */
function checkout(files: Readonly<Record<string, string>>): string {
  const place = join(folder, 'checkout');
  const all: Record<string, string> = {
    'package.json': '{"name": "hindcast", "version": "1.2.3", "license": "MIT"}',
    'package-lock.json': JSON.stringify({
      packages: {
        'node_modules/needed': { version: '1.0.0', integrity: 'sha512-AAAA' },
        'node_modules/deeper': { version: '2.0.0', integrity: 'sha512-AAAA' },
      },
    }),
    LICENSE: 'MIT',
    'tools/image/healthcheck.mjs': '',
    'apps/demo-judge/package.json':
      '{"name": "@hindcast/demo-judge", "version": "1.2.3", "scripts": {"x": "y"}, "devDependencies": {"jest": "1"}}',
    'apps/demo-judge/dist/main.js': "require('./used'); require('needed'); require('node:fs');",
    'apps/demo-judge/dist/used.js': '',
    'apps/demo-judge/dist/unused.js': "require('absent')",
    'apps/demo-judge/dist/main.js.map': '{}',
    'node_modules/needed/package.json':
      '{"name": "needed", "version": "1.0.0", "license": "MIT", "dependencies": {"deeper": "^2.0.0"}, "optionalDependencies": {"not-installed": "1"}}',
    'node_modules/needed/index.js': '',
    'node_modules/needed/index.d.ts': '',
    'node_modules/needed/test/index.js': '',
    'node_modules/deeper/package.json': '{"name": "deeper", "version": "2.0.0", "license": "ISC"}',
    'node_modules/deeper/index.js': '',
    'node_modules/other/package.json': '{"name": "other", "version": "3.0.0"}',
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

/** Prunes the checkout's demo judge. */
function prune(
  files: Readonly<Record<string, string>> = {},
  out = join(folder, 'out'),
): { out: string; status: number | null; stderr: string } {
  const { status, stderr } = call('prune.mjs', 'prune', { name: 'demo-judge', root: checkout(files), out });
  return { out, status, stderr };
}

describe('npm run image -- prune', () => {
  it('copies what is loaded, the packages of that and what they need, and nothing else', () => {
    const { out, status, stderr } = prune();
    expect([status, stderr]).toEqual([0, '']);
    const listed = spawnSync('find', ['.', '-type', 'f'], { cwd: out, encoding: 'utf8' })
      .stdout.trim()
      .split('\n')
      .sort();
    expect(listed).toEqual([
      './LICENSE',
      './apps/demo-judge/dist/main.js',
      './apps/demo-judge/dist/used.js',
      './apps/demo-judge/package.json',
      './healthcheck.mjs',
      './node_modules/deeper/index.js',
      './node_modules/deeper/package.json',
      './node_modules/needed/index.js',
      './node_modules/needed/package.json',
      './package.json',
      './sbom.cdx.json',
    ]);
    expect(JSON.parse(readFileSync(join(out, 'apps/demo-judge/package.json'), 'utf8'))).toEqual({
      name: '@hindcast/demo-judge',
      version: '1.2.3',
      private: true,
    });
  });

  it.each<{ what: string; files: Record<string, string>; says: string }>([
    {
      what: 'a load under a computed name that nobody explained',
      files: { 'apps/demo-judge/dist/used.js': 'require(process.argv[2])' },
      says: 'apps/demo-judge/dist/used.js',
    },
    {
      what: 'a worker',
      files: { 'apps/demo-judge/dist/used.js': 'new Worker(join(__dirname, "w.js"))' },
      says: 'computed name',
    },
    {
      what: 'a package that is not installed',
      files: { 'apps/demo-judge/dist/used.js': "require('absent')" },
      says: 'absent',
    },
    {
      what: 'another version than the lock file has',
      files: { 'node_modules/deeper/package.json': '{"name": "deeper", "version": "2.0.1"}' },
      says: 'deeper is 2.0.1, package-lock.json says 2.0.0',
    },
    {
      what: 'a package that the lock file does not have',
      files: { 'apps/demo-judge/dist/used.js': "require('other')" },
      says: 'other 3.0.0',
    },
    {
      what: 'a development dependency',
      files: {
        'package-lock.json': JSON.stringify({
          packages: {
            'node_modules/needed': { version: '1.0.0', dev: true },
            'node_modules/deeper': { version: '2.0.0' },
          },
        }),
      },
      says: 'needed is a development dependency',
    },
    {
      what: 'a package for another system',
      files: { 'node_modules/deeper/package.json': '{"name": "deeper", "version": "2.0.0", "os": ["plan9"]}' },
      says: 'deeper is not for',
    },
  ])('stops at $what, and leaves nothing', ({ files, says }) => {
    const { out, status, stderr } = prune(files);
    expect([status, stderr]).toEqual([1, expect.stringContaining(says)]);
    expect(existsSync(out)).toBe(false);
  });

  it.each([
    { what: 'the checkout itself', place: 'checkout' },
    { what: 'a folder in it', place: 'checkout/out/gateway' },
    { what: 'a link into it', place: 'link/out' },
  ])('refuses $what as the place', ({ place }) => {
    mkdirSync(join(folder, 'checkout'));
    symlinkSync(join(folder, 'checkout'), join(folder, 'link'));
    const { out, status, stderr } = prune({}, join(folder, place));
    expect([status, stderr]).toEqual([1, `${out} lies in the checkout, which is no place for an image's files\n`]);
    expect(existsSync(join(out, 'sbom.cdx.json'))).toBe(false);
  });
});

describe('npm run image -- start', () => {
  /** What a service is told, by its name in `environment`. */
  function environmentOf(app: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const from = join(folder, 'from');
    mkdirSync(from, { recursive: true });
    writeFileSync(join(from, 'print.js'), 'console.log(JSON.stringify(process.env))');
    const { stdout } = call('start.mjs', 'start', {
      name: app,
      folder: from,
      data: join(folder, 'data'),
      policies: join(folder, 'policies'),
      models: join(folder, 'models'),
      env: more,
      file: 'print.js',
      kind: 'none',
      stdio: 'inherit',
    });
    return JSON.parse(stdout) as Record<string, string>;
  }

  it('sets what the Dockerfile sets, its folders where they are here', () => {
    expect(environmentOf('trainer-cpu')).toMatchObject({
      BACKEND: 'onnx',
      MODEL_DIR: join(folder, 'models/seed'),
      POLICY_DIR: join(folder, 'policies'),
    });
    expect(environmentOf('trainer')).toMatchObject({ BACKEND: 'tfjs-node-gpu' });
    expect(environmentOf('gateway')).not.toHaveProperty('BACKEND');
  });

  it('what is given counts more', () => {
    expect(environmentOf('trainer', { BACKEND: 'wasm' })).toMatchObject({ BACKEND: 'wasm' });
  });
});

it('the CUDA provider is of the release of onnxruntime-node', () => {
  const check = (place: string): Ran => call('onnx-cuda.mjs', 'pinnedWheels', place);
  expect(check(root)).toMatchObject({ status: 0 });
  writeFileSync(
    join(folder, 'package-lock.json'),
    '{"packages": {"node_modules/onnxruntime-node": {"version": "1.31.0"}}}',
  );
  expect(check(folder).stderr).toContain(
    'onnxruntime-node is 1.31.0, tools/image/onnx-cuda.json has onnxruntime-gpu==1.30.0',
  );
});
