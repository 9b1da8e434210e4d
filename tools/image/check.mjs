// The Dockerfile against the table of images and the checkout. Part of `npm run lint`. Fails with a list of what is wrong.
// `node tools/image/check.mjs [folder]`
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { inherited, optionsOf, pairs, readDockerfile } from './dockerfile.mjs';
import { IMAGES, USER } from './images.mjs';

const root = resolve(process.argv[2] ?? dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const problems = [];
const fail = (text) => problems.push(`Dockerfile: ${text}`);

const { stages } = readDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'));
const names = new Set(stages.map(({ name }) => name));
const used = new Set(stages.flatMap((stage) => [stage.base, ...copies(stage).map(({ from }) => from)]));
checkBases();
for (const stage of stages) checkSteps(stage);
for (const [name, image] of Object.entries(IMAGES)) checkImage(name, image);
for (const { name } of stages)
  if (!used.has(name) && IMAGES[name] === undefined) fail(`the target ${name} is no image`);
checkWorkspaces();
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(1);
}

function copies({ instructions }) {
  return instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ words }) => {
      const { options, rest } = optionsOf(words);
      return { from: options.from, sources: rest.slice(0, -1), target: rest.at(-1), line: words };
    });
}

/** A base that is not one of our stages is named by a full version or by what it holds. */
function checkBases() {
  for (const { base, name } of stages) {
    if (names.has(base)) continue;
    if (/@sha256:[0-9a-f]{64}$/.test(base)) continue;
    if (!/:[^/]*\d+\.\d+\.\d+[^/]*$/.test(base)) fail(`the base ${base} of ${name} has no full version`);
  }
}

function checkSteps(stage) {
  for (const { from, sources } of copies(stage)) {
    if (from !== undefined && !names.has(from)) fail(`${stage.name} copies from ${from}, which is no stage`);
    if (from !== undefined) continue;
    for (const source of sources)
      if (!existsSync(join(root, source))) fail(`${stage.name} copies ${source}, which does not exist`);
  }
  for (const { name, words } of stage.instructions) {
    if (name === 'ADD') fail(`${stage.name} uses ADD; COPY says what it does`);
    if (name === 'ENV' || name === 'ARG')
      for (const [variable] of pairs(words))
        if (/KEY|SECRET|PASSWORD|TOKEN/.test(variable))
          fail(`${stage.name} sets ${variable}, which would stand in the image for everybody to read`);
    if (name !== 'RUN') continue;
    for (const [, script] of words.matchAll(/\bnode\s+(\S+\.mjs)/g))
      if (!existsSync(join(root, script))) fail(`${stage.name} runs ${script}, which does not exist`);
    const app = /image\/main\.mjs prune --app (\S+)/.exec(words)?.[1];
    if (app !== undefined && stage.name !== `prune-${app}`) fail(`${stage.name} prunes ${app}`);
    if (app !== undefined && IMAGES[app] === undefined) fail(`${stage.name} prunes ${app}, which is no image`);
  }
}

function checkImage(name, { app, port }) {
  const stage = stages.find((candidate) => candidate.name === name);
  if (stage === undefined) return fail(`the image ${name} has no target`);
  const all = inherited(stages, stage);
  const last = (instruction) => all.findLast((candidate) => candidate.name === instruction)?.words;
  const env = new Map(all.filter((one) => one.name === 'ENV').flatMap(({ words }) => pairs(words)));
  const labels = new Map(all.filter((one) => one.name === 'LABEL').flatMap(({ words }) => pairs(words)));
  const expect = (what, is, wanted) => {
    if (is !== wanted) fail(`${name}: ${what} is ${is ?? 'missing'}, not ${wanted}`);
  };
  expect('USER', last('USER'), `${USER.uid}:${USER.gid}`);
  expect('STOPSIGNAL', last('STOPSIGNAL'), 'SIGTERM');
  expect('WORKDIR', last('WORKDIR'), '/app');
  expect('ENTRYPOINT', last('ENTRYPOINT'), `["node", "apps/${app}/dist/main.js"]`);
  expect('EXPOSE', last('EXPOSE'), String(port));
  expect('PORT', env.get('PORT'), String(port));
  expect('DATA_DIR', env.get('DATA_DIR'), '/data');
  expect('NODE_ENV', env.get('NODE_ENV'), 'production');
  expect('HEALTHCHECK', /CMD (.*)$/.exec(last('HEALTHCHECK') ?? '')?.[1], '["node", "healthcheck.mjs"]');
  for (const label of ['title', 'licenses', 'version', 'revision'])
    if (!labels.get(`org.opencontainers.image.${label}`))
      fail(`${name}: the label org.opencontainers.image.${label} is missing`);
  const pruned = copies(stage).find(({ target }) => target === '/app');
  expect('/app', pruned && `${pruned.from} ${pruned.sources[0]}`, `prune-${name} /image`);
}

/** npm ci needs every package.json of the workspaces, and nothing else that changes as often as the sources. */
function checkWorkspaces() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folders = workspaces.flatMap((pattern) =>
    pattern.endsWith('/*')
      ? readdirSync(join(root, pattern.slice(0, -2))).map((folder) => `${pattern.slice(0, -2)}/${folder}`)
      : [pattern],
  );
  const copied = new Set(stages.flatMap((stage) => copies(stage).flatMap(({ sources }) => sources)));
  for (const folder of folders)
    if (existsSync(join(root, folder, 'package.json')) && !copied.has(`${folder}/package.json`))
      fail(`${folder}/package.json is not copied before npm ci`);
}
