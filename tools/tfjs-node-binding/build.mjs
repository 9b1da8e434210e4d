// `npm run tfjs-node:build`: compiles TensorFlow.js' own binding against a libtensorflow from a package registry, which
// nothing downloads at install. BACKEND=tfjs-node and tfjs-node-gpu then load it from the cache.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkNode, ensureInstalled, root } from '../setup.mjs';
import { compile, tryOut } from './compile.mjs';
import { Unavailable } from './command.mjs';
import { fetchLibtensorflow } from './libtensorflow.mjs';

checkNode();
await ensureInstalled();
const { Command, Option } = await import('commander');
const { SingleBar } = await import('cli-progress');

const STEPS = ['fetching libtensorflow', 'unpacking', 'compiling', 'trying out'];
const program = new Command('tfjs-node:build')
  .description(
    "Builds the native binding of @tensorflow/tfjs-node against a real libtensorflow. The default takes it from\nTensorFlow's Python wheel (pip downloads it, about 230 MB; nothing is installed).",
  )
  .addOption(
    new Option('--package <name>', 'which package the binding is for')
      .choices(['tfjs-node', 'tfjs-node-gpu'])
      .default('tfjs-node'),
  )
  .option(
    '--from <source>',
    'wheel (pip), maven (mvn), or a folder with lib/ and, where it has them, include/ of a libtensorflow',
    'wheel',
  )
  .addOption(
    new Option(
      '--cuda <release>',
      "tfjs-node-gpu from the wheel: 12 brings NVIDIA's libraries, 11.8 uses the machine's",
    )
      .choices(['12', '11.8'])
      .default('12'),
  )
  .option('--release <requirement>', 'another release than the pinned one, as pip or Maven name it')
  .option('--cache <folder>', 'where it is built', join(root, '.cache/tfjs-node-binding'))
  .option('--nodedir <folder>', "folder with include/node of Node's headers; default: looked for")
  .option('--force', 'build again what is there already')
  .option('--json', 'print one line of JSON about the result')
  .parse();
const options = program.opts();

const target = join(resolve(options.cache), options.package);
const record = join(target, 'binding.json');
if (existsSync(record) && !options.force) {
  finish(JSON.parse(readFileSync(record, 'utf8')), 'is there already (--force builds it again)');
} else {
  try {
    finish(await build(), 'is ready');
  } catch (error) {
    process.stderr.write(`\n${error instanceof Unavailable ? error.message : error.stack}\n`);
    process.exit(error instanceof Unavailable ? 3 : 1);
  }
}

async function build() {
  mkdirSync(resolve(options.cache), { recursive: true });
  // On the same disk as the target, so that it can be renamed; half a build never looks like a whole one.
  const folder = mkdtempSync(join(resolve(options.cache), '.building-'));
  const progress = stepProgress();
  try {
    const library = await fetchLibtensorflow(options, folder, progress);
    progress.next(STEPS[2]);
    await compile(options.package, folder, library.includeDir, options.nodedir);
    progress.next(STEPS[3]);
    const tensorflow = await tryOut(options.package, folder);
    progress.stop();
    const result = { package: options.package, tensorflow, source: library.source, sha256: library.sha256 };
    rmSync(target, { recursive: true, force: true });
    renameSync(folder, target);
    writeFileSync(record, `${JSON.stringify(result, null, 2)}\n`);
    return result;
  } finally {
    progress.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function finish(result, state) {
  if (options.json) process.stdout.write(`${JSON.stringify({ ...result, folder: target })}\n`);
  else
    process.stderr.write(
      `The binding of @tensorflow/${result.package} with TensorFlow ${result.tensorflow} ${state}: ${target}\n`,
    );
}

/** A bar on a terminal, one line per step elsewhere. */
function stepProgress() {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{bar} {value}/{total} {step}', stream: process.stderr, hideCursor: true })
    : null;
  let step = -1;
  const progress = {
    next(name) {
      step++;
      if (bar === null) process.stderr.write(`[${step + 1}/${STEPS.length}] ${name}\n`);
      else if (step === 0) bar.start(STEPS.length, 0, { step: name });
      else bar.update(step, { step: name });
    },
    stop() {
      if (bar?.isActive) bar.update(STEPS.length, { step: 'done' });
      bar?.stop();
    },
  };
  progress.next(STEPS[0]);
  return { ...progress, unpacking: () => progress.next(STEPS[1]) };
}
