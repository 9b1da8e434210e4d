// `npm run software-gpu`: SwiftShader, a Vulkan driver in software, out of Debian's Chromium package, into .cache/swiftshader. With it
// BACKEND=onnx-webgpu can be tested on a machine without a GPU. Nothing is installed.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './setup.mjs';

// The package that has the files has changed over time.
const PACKAGES = ['chromium-common', 'chromium'];
const FILES = ['libvk_swiftshader.so', 'vk_swiftshader_icd.json', 'libvulkan.so.1'];
const target = join(root, '.cache/swiftshader');
const say = (text) => process.stderr.write(`${text}\n`);

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  say(
    `Usage: npm run software-gpu [-- --force]\n\nFetches SwiftShader (about 32 MB, Debian or Ubuntu with apt) into ${target}.\nUse: VK_ICD_FILENAMES=${target}/vk_swiftshader_icd.json LD_LIBRARY_PATH=${target} BACKEND=onnx-webgpu`,
  );
} else if (existsSync(join(target, FILES[0])) && !process.argv.includes('--force')) {
  say(`SwiftShader is there already: ${target}`);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'swiftshader-'));
  // apt gives up its rights for the download.
  chmodSync(folder, 0o777);
  try {
    fetchInto(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fetchInto(folder) {
  if (spawnSync('dpkg-deb', ['--version'], { stdio: 'ignore' }).status !== 0) {
    return giveUp('needs apt and dpkg; elsewhere install a Vulkan driver and set VK_ICD_FILENAMES');
  }
  for (const name of PACKAGES) {
    say(`fetching ${name}…`);
    if (!download(name, folder)) continue;
    const archive = readdirSync(folder).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
    const unpacked = join(folder, name);
    if (spawnSync('dpkg-deb', ['-x', join(folder, archive), unpacked], { stdio: ['ignore', 2, 2] }).status !== 0)
      continue;
    const from = join(unpacked, 'usr/lib/chromium');
    if (!FILES.slice(0, 2).every((file) => existsSync(join(from, file)))) continue;
    const staged = join(folder, 'staged');
    mkdirSync(staged);
    for (const file of FILES) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(staged, file));
    mkdirSync(join(root, '.cache'), { recursive: true });
    rmSync(target, { recursive: true, force: true });
    move(staged, target);
    return say(`SwiftShader is in ${target}`);
  }
  return giveUp('apt has no Chromium package with SwiftShader');
}

function download(name, cwd) {
  const get = () => spawnSync('apt-get', ['download', '-q', name], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let result = get();
  if (result.status !== 0 && process.getuid?.() === 0) {
    spawnSync('apt-get', ['update', '-q'], { stdio: 'ignore' });
    result = get();
  }
  if (result.status !== 0) say(String(result.stderr).trim().split('\n').at(-1));
  return result.status === 0;
}

function move(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    // The temporary folder may be on another disk.
    if (error.code !== 'EXDEV') throw error;
    mkdirSync(to);
    for (const file of readdirSync(from)) copyFileSync(join(from, file), join(to, file));
  }
}

function giveUp(why) {
  say(`SwiftShader cannot be had here: ${why}.`);
  process.exitCode = 3;
}
