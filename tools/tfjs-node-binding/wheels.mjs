// Python's wheels as a source of native libraries: pip only downloads them, nothing is installed.
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import process from 'node:process';
import { firstThatRuns, run } from './command.mjs';

/** The Python that has pip. @throws Unavailable with the advice */
export function findPip(advice) {
  return firstThatRuns(
    [
      ['python3', '-m', 'pip', '--version'],
      ['python', '-m', 'pip', '--version'],
    ],
    advice,
  );
}

/** @returns paths of the wheels in `to` */
export async function download(python, requirements, to) {
  const platforms = ['manylinux_2_17', 'manylinux2014', 'manylinux_2_27', 'manylinux_2_28'].flatMap((platform) => [
    '--platform',
    `${platform}_${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`,
  ]);
  // One fixed Python version: the library in the wheel does not depend on it, its checksum does.
  const args = ['--no-deps', '--only-binary=:all:', '--implementation', 'cp', '--python-version', '3.11', ...platforms];
  await run(python, ['-m', 'pip', 'download', '--progress-bar', 'off', '-d', to, ...args, ...requirements], {
    whatFailed: `pip could not download ${requirements.join(' ')}:`,
  });
  return readdirSync(to).map((name) => join(to, name));
}

/** @returns the file's checksum. @throws Error when another one is expected */
export async function verified(file, expected) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const sha256 = hash.digest('hex');
  if (expected !== undefined && sha256 !== expected) {
    throw new Error(`${basename(file)} has the checksum ${sha256}, not ${expected}; nothing was built from it`);
  }
  return sha256;
}

/** Takes what matches out of a zip archive; all of it where only Python unpacks. */
export async function unzip(archive, to, patterns) {
  mkdirSync(to, { recursive: true });
  const whatFailed = `${basename(archive)} could not be unpacked:`;
  const tool = firstThatRuns(
    [
      ['unzip', '-v'],
      ['python3', '--version'],
    ],
    'unpacking needs unzip, or Python',
  );
  if (tool === 'unzip') await run('unzip', ['-q', '-o', archive, ...patterns, '-d', to], { whatFailed });
  else await run('python3', ['-m', 'zipfile', '-e', archive, to], { whatFailed });
}
