// `npm run image -- build`: asks Docker for the images; every step of theirs is a script that runs without it as well.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Unavailable } from '../tfjs-node-binding/command.mjs';
import { IMAGES, imageOf } from './images.mjs';

/** Where an image is meant to be run; the trainers' libraries are for x86 alone. */
const AMD64_ONLY = new Set(['trainer', 'trainer-onnx']);

/**
 * The arguments of `docker` that build one image.
 *
 * @param {{ name: string, version: string, revision: string, prefix: string, tag?: string, platforms?: readonly string[], push?: boolean, buildArgs?: readonly string[] }} options
 * @throws Error for a tag that moves, and for several platforms that are not pushed
 */
export function buildArguments({
  name,
  version,
  revision,
  prefix,
  tag = version,
  platforms = [],
  push = false,
  buildArgs = [],
}) {
  imageOf(name);
  if (tag === 'latest') throw new Error('an image is tagged with a version, not with latest');
  if (platforms.length > 1 && !push) throw new Error('an image for several platforms can only be pushed (--push)');
  if (AMD64_ONLY.has(name) && platforms.some((platform) => platform !== 'linux/amd64'))
    throw new Error(`${name} is built for linux/amd64 alone: its GPU libraries are`);
  return [
    'buildx',
    'build',
    `--target=${name}`,
    `--tag=${prefix}/${name}:${tag}`,
    `--build-arg=VERSION=${version}`,
    `--build-arg=REVISION=${revision}`,
    ...buildArgs.map((value) => `--build-arg=${value}`),
    ...(platforms.length > 0 ? [`--platform=${platforms.join(',')}`] : []),
    push ? '--push' : '--load',
    '.',
  ];
}

/** Builds the images one after another; layers that they share are built once. */
export function build(root, { app, prefix, tag, platform, push, buildArg, dryRun }) {
  const names = app.length > 0 ? app : Object.keys(IMAGES);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const revision = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || 'unknown';
  const calls = names.map((name) =>
    buildArguments({ name, version, revision, prefix, tag, platforms: platform, push, buildArgs: buildArg }),
  );
  if (dryRun) {
    process.stdout.write(calls.map((args) => `docker ${args.join(' ')}\n`).join(''));
    return;
  }
  requireEngine();
  for (const [i, args] of calls.entries()) {
    process.stderr.write(`[${i + 1}/${calls.length}] ${names[i]}\n`);
    const { status } = spawnSync('docker', args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) throw new Error(`the image ${names[i]} could not be built; see above`);
  }
}

/** @throws Unavailable that says what is missing and what works without it */
export function requireEngine(docker = 'docker') {
  const ask = (...args) => spawnSync(docker, args, { encoding: 'utf8' });
  const without =
    'What an image holds can be made and run without Docker: npm run image -- prune, npm run image -- start.';
  const client = ask('--version');
  if (client.error || client.status !== 0)
    throw new Unavailable(`Building an image needs Docker, and there is no docker command here.\n${without}`);
  const engine = ask('version', '--format', '{{.Server.Version}}');
  if (engine.status !== 0)
    throw new Unavailable(
      `Building an image needs a Docker engine, and none answers: ${(engine.stderr || engine.stdout).trim().split('\n').at(-1)}\n${without}`,
    );
  const buildx = ask('buildx', 'version');
  if (buildx.status !== 0)
    throw new Unavailable(
      `Building an image needs docker buildx (a plugin of the docker command), which is not here.\n${without}`,
    );
}
