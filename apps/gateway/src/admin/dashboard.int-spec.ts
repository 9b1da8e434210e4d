import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { startTestGateway, type RunningGateway } from '../testing/gateway-harness';
import { readDashboard } from './dashboard-files';

const PAGE = '<!doctype html><script type="module" src="/assets/index-1a2b.js"></script>';
const SCRIPT = 'console.info("Hindcast");';
const SECRET = 'not for everybody';

let folder: string;
let gateway: RunningGateway;
let unbuilt: RunningGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-dashboard-'));
  const dist = join(folder, 'dist');
  mkdirSync(join(dist, 'assets', 'fonts'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), SECRET);
  writeFileSync(join(dist, 'other.json'), SECRET);
  writeFileSync(join(dist, 'index.html'), PAGE);
  writeFileSync(join(dist, 'index.html.gz'), gzipSync(PAGE));
  writeFileSync(join(dist, 'assets', 'index-1a2b.js'), SCRIPT);
  writeFileSync(join(dist, 'assets', 'index-1a2b.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(dist, 'assets', 'index-1a2b.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(dist, 'assets', 'fonts', 'a.woff2'), 'font');
  symlinkSync(join(folder, 'secret.txt'), join(dist, 'assets', 'link.txt'));
  const env = {
    NATS_URL: 'nats://127.0.0.1:1',
    API_KEYS: `ann:${'a'.repeat(64)}`,
    CORS_ORIGINS: 'https://app.example',
  };
  [gateway, unbuilt] = await Promise.all([
    startTestGateway({ ...env, DASHBOARD_DIR: dist }),
    startTestGateway({ ...env, DASHBOARD_DIR: join(folder, 'nowhere') }),
  ]);
});
afterAll(async () => {
  await Promise.all([gateway.stop(), unbuilt.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Sends the path as it is written: no client may tidy it up. */
function get(path: string, headers: Record<string, string> = {}, to = gateway, method = 'GET'): Promise<Answer> {
  const { hostname, port } = new URL(to.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers, method }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(pieces) }),
      );
    });
    sent.on('error', reject).end();
  });
}

it.each(['/', '/?key=1', '/ui', '/ui/turns', '/ui/turns/chatcmpl-1', '/ui/a/b/c?d'])('%s is the page', async (path) => {
  const { status, headers, bytes } = await get(path);
  expect([status, bytes.toString()]).toEqual([200, PAGE]);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  });
  const policy = headers['content-security-policy'] as string;
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

it.each<[string | undefined, string | undefined, Buffer]>([
  [undefined, undefined, Buffer.from(SCRIPT)],
  ['gzip, deflate, br', 'br', brotliCompressSync(SCRIPT)],
  ['gzip', 'gzip', gzipSync(SCRIPT)],
  ['br;q=0', undefined, Buffer.from(SCRIPT)],
])('a script, accepted as %s, comes as %s', async (accepted, encoding, bytes) => {
  const answer = await get('/assets/index-1a2b.js?v=1', accepted === undefined ? {} : { 'accept-encoding': accepted });
  expect(answer).toMatchObject({
    status: 200,
    bytes,
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.length),
      vary: expect.stringContaining('Accept-Encoding') as string,
    },
  });
  expect(answer.headers['content-encoding']).toBe(encoding);
});

it('a file without a compressed one comes as it is', async () => {
  const { headers, bytes } = await get('/assets/fonts/a.woff2', { 'accept-encoding': 'br, gzip' });
  expect([headers['content-type'], headers['content-encoding'], bytes.toString()]).toEqual([
    'font/woff2',
    undefined,
    'font',
  ]);
});

it('HEAD says what would come', async () => {
  const { status, headers, bytes } = await get('/assets/index-1a2b.js', {}, gateway, 'HEAD');
  expect([status, headers['content-length'], bytes.length]).toEqual([200, String(SCRIPT.length), 0]);
});

it.each([
  '/assets/../../secret.txt',
  '/assets/../other.json',
  '/assets/..%2f..%2fsecret.txt',
  '/assets/%2e%2e/%2e%2e/secret.txt',
  '/assets/%252e%252e/secret.txt',
  '/assets/..%5c..%5csecret.txt',
  '/assets/..\\..\\secret.txt',
  '/assets//../secret.txt',
  '/assets/link.txt',
  '/assets/%00',
  '/assets/index-1a2b.js%00.css',
  '/assets/index-1a2b.js/',
  '/assets/index-1a2b.js.br',
  '/assets/INDEX-1a2b.js',
  '/assets/__proto__',
  '/assets/constructor',
  '/assets/',
  '/assets',
  '/other.json',
  '/index.html',
  '/../secret.txt',
  '//secret.txt',
])('%s leads nowhere', async (path) => {
  const { status, bytes } = await get(path);
  expect([400, 404]).toContain(status);
  expect(bytes.toString()).not.toContain(SECRET);
  expect(JSON.parse(bytes.toString())).toHaveProperty('error.code');
});

it('nothing but the page and its assets is read', () => {
  const paths = [...readDashboard(join(folder, 'dist')).keys()];
  expect(paths.sort()).toEqual(['assets/fonts/a.woff2', 'assets/index-1a2b.js', 'index.html']);
});

it('what the page asks for needs a key all the same', async () => {
  expect((await get('/admin/v1/session')).status).toBe(401);
});

it('a gateway without it says so, and where the rest is', async () => {
  for (const path of ['/', '/ui/turns']) {
    const { status, headers, bytes } = await get(path, {}, unbuilt);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(bytes.toString()).toMatch(/was not built[\s\S]*href="\/docs"/);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  }
  expect((await get('/assets/index-1a2b.js', {}, unbuilt)).status).toBe(404);
});
