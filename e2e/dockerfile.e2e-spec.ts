import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '..');
const text = readFileSync(join(root, 'Dockerfile'), 'utf8');

/** What the check says about a checkout whose Dockerfile is another. */
function check(dockerfile: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-dockerfile-'));
  try {
    for (const name of readdirSync(root)) if (name !== 'Dockerfile') symlinkSync(join(root, name), join(folder, name));
    writeFileSync(join(folder, 'Dockerfile'), dockerfile);
    const { stderr } = spawnSync(process.execPath, [join(root, 'tools/image/check.mjs'), folder], { encoding: 'utf8' });
    return stderr
      .trim()
      .split('\n')
      .filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the Dockerfile', () => {
  it('agrees with the table of images and with the checkout', () => {
    expect(check(text)).toEqual([]);
  });

  it.each([
    {
      what: 'a base that moves',
      from: 'node:20.20.2-bookworm-slim',
      to: 'node:20-bookworm-slim',
      says: /the base node:20-bookworm-slim of \w+ has no full version/,
    },
    {
      what: 'latest',
      from: /nvidia\/cuda:\S+/,
      to: 'nvidia/cuda:latest',
      says: /the base nvidia\/cuda:latest of trainer has no full version/,
    },
    {
      what: 'an image without a target',
      from: 'FROM runtime AS judge-svc',
      to: 'FROM runtime AS judge',
      says: /the image judge-svc has no target/,
    },
    {
      what: 'a target that is no image',
      from: 'FROM runtime AS judge-svc',
      to: 'FROM runtime AS judge',
      says: /the target judge is no image/,
    },
    {
      what: 'root',
      from: /USER 10001:10001\n\nFROM runtime AS gateway/,
      to: 'USER 0:0\n\nFROM runtime AS gateway',
      says: /gateway: USER is 0:0/,
    },
    {
      what: 'an account by name',
      from: /USER 10001:10001\nENTRYPOINT/,
      to: 'USER node\nENTRYPOINT',
      says: /trainer: USER is node/,
    },
    { what: 'no account', from: /USER 10001:10001\n/g, to: '', says: /engine: USER is missing/ },
    { what: 'no health check', from: /HEALTHCHECK .*\n/g, to: '', says: /dispatcher: HEALTHCHECK is missing/ },
    {
      what: 'another signal',
      from: /STOPSIGNAL SIGTERM\n/,
      to: 'STOPSIGNAL SIGKILL\n',
      says: /gateway: STOPSIGNAL is SIGKILL/,
    },
    {
      what: 'a shell around the service',
      from: 'ENTRYPOINT ["node", "apps/engine/dist/main.js"]',
      to: 'ENTRYPOINT node apps/engine/dist/main.js',
      says: /engine: ENTRYPOINT is node/,
    },
    { what: 'another port', from: 'EXPOSE 8083', to: 'EXPOSE 8080', says: /dispatcher: EXPOSE is 8080, not 8083/ },
    {
      what: 'a script that is not there',
      from: 'node tools/build.mjs',
      to: 'node tools/compile.mjs',
      says: /build runs tools\/compile.mjs, which does not exist/,
    },
    {
      what: 'a file that is not there',
      from: 'COPY package.json',
      to: 'COPY packages.json',
      says: /build copies packages.json, which does not exist/,
    },
    {
      what: 'a stage that is not there',
      from: 'COPY --from=tensorflow',
      to: 'COPY --from=tf',
      says: /trainer copies from tf, which is no stage/,
    },
    {
      what: 'another image’s folder',
      from: 'COPY --from=prune-teacher-svc',
      to: 'COPY --from=prune-gateway',
      says: /teacher-svc: \/app is prune-gateway/,
    },
    {
      what: 'a package.json that npm ci misses',
      from: /COPY libs\/advantage.*\n/,
      to: '',
      says: /libs\/advantage\/package.json is not copied/,
    },
    { what: 'a secret', from: 'ENV PORT=8080', to: 'ENV PORT=8080 API_KEYS=x', says: /gateway sets API_KEYS/ },
    {
      what: 'a label that is missing',
      from: /org.opencontainers.image.revision=/g,
      to: 'revision=',
      says: /gateway: the label org.opencontainers.image.revision is missing/,
    },
  ])('is refused with $what', ({ from, to, says }) => {
    const broken = text.replace(from, to);
    expect(broken).not.toBe(text);
    expect(check(broken)).toContainEqual(expect.stringMatching(says));
  });
});
