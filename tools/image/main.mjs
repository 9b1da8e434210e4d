// `npm run image -- <command>`: what goes into the images of the Dockerfile, one step at a time.
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { root } from '../setup.mjs';
import { Unavailable } from '../tfjs-node-binding/command.mjs';
import { build } from './build.mjs';
import { writeEnv } from './env.mjs';
import { IMAGES } from './images.mjs';
import { fetchOnnxCuda } from './onnx-cuda.mjs';
import { prune } from './prune.mjs';
import { sizes, sizeTable } from './sizes.mjs';
import { servicePid, start } from './start.mjs';

const names = Object.keys(IMAGES);
const app = () => new Option('--app <image>', 'which image').choices(names).makeOptionMandatory();
const say = (text) => process.stderr.write(`${text}\n`);

const program = new Command('npm run image --').description(
  'The images of the Dockerfile, step by step; all but `build` need no Docker. docs/images.md tells more.',
);

program
  .command('prune')
  .description('copy what one image needs out of the built checkout: the /app of that image')
  .addOption(app())
  .requiredOption('--out <folder>', 'an empty folder, or one that does not exist')
  .action(({ app, out }) => {
    const { files, packages } = prune({ name: app, root, out: resolve(out) });
    say(`${app}: ${files} compiled files and ${packages} packages in ${resolve(out)}`);
  });

program
  .command('start')
  .description(
    'run a pruned folder as its image runs: as account 10001, on a file system that cannot be written to (as root on Linux; else as\nyourself). Variables of the service: after --, as NAME=value; {models} and {policies} stand for those folders',
  )
  .addOption(app())
  .requiredOption('--from <folder>', 'the pruned folder')
  .requiredOption('--data <folder>', 'DATA_DIR')
  .requiredOption('--policies <folder>', 'becomes /policies')
  .option('--models <folder>', 'becomes /models, read-only')
  .option('--file <path>', 'another file of the folder than the service, e.g. healthcheck.mjs')
  .option('--args <arguments...>', 'its arguments', [])
  .argument('[variables...]', 'NAME=value')
  .action((variables, options) => {
    const env = Object.fromEntries(variables.map(variable));
    const { child, kind, cleanUp } = start({
      name: options.app,
      folder: options.from,
      data: options.data,
      policies: options.policies,
      models: options.models,
      env,
      ...(options.file ? { file: options.file, args: options.args } : {}),
      stdio: 'inherit',
    });
    say(`isolation: ${kind}`);
    for (const signal of ['SIGTERM', 'SIGINT'])
      process.on(signal, () => process.kill(servicePid(child) ?? child.pid, signal));
    child.on('exit', (code, signal) => {
      cleanUp();
      process.exitCode = signal ? 1 : (code ?? 1);
    });
  });

program
  .command('sbom')
  .description(
    'print the bill of materials of one image (CycloneDX 1.6); it also lies in the image as /app/sbom.cdx.json',
  )
  .addOption(app())
  .option('--out <file>', 'write it there')
  .action(({ app, out }) => {
    const folder = mkdtempSync(join(tmpdir(), 'hindcast-sbom-'));
    try {
      prune({ name: app, root, out: join(folder, app) });
      const sbom = readFileSync(join(folder, app, 'sbom.cdx.json'), 'utf8');
      if (out) writeFileSync(out, sbom);
      else process.stdout.write(sbom);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

program
  .command('onnx-cuda')
  .description(
    "fetch onnxruntime's CUDA provider and NVIDIA's libraries for the image trainer-onnx (pip downloads 1.3 GB)",
  )
  .requiredOption('--out <folder>', 'an empty folder, or one that does not exist')
  .action(({ out }) => fetchOnnxCuda(root, resolve(out), say));

program
  .command('sizes')
  .description('print what /app of each image weighs, as a table')
  .action(() => process.stdout.write(`${sizeTable(sizes(root))}\n`));

program
  .command('env')
  .description('write random secrets for compose.yaml to .env, and print the keys of clients and of the administrator')
  .option('--out <file>', 'where', join(root, '.env'))
  .action(({ out }) => {
    const { key, adminKey } = writeEnv(resolve(out));
    say(`${resolve(out)} is written. The administrator’s key, for the dashboard, shown this once:\n${adminKey}`);
    say('The key for clients, likewise:');
    process.stdout.write(`${key}\n`);
  });

program
  .command('build')
  .description('build images with docker buildx, as <prefix>/<image>:<version>')
  .addOption(new Option('--app <image...>', 'only these').choices(names).default([], 'all'))
  .option('--prefix <name>', 'registry and folder in front of the name', 'hindcast')
  .option('--tag <tag>', 'default: the version of package.json; not latest')
  .option('--platform <platform...>', 'linux/amd64, linux/arm64; default: this machine’s', [])
  .option('--build-arg <NAME=value...>', 'arguments of the Dockerfile, e.g. another base image', [])
  .option('--push', 'push them; without it they stay in the local engine')
  .option('--dry-run', 'print the docker commands')
  .action((options) => build(root, options));

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  say(error.message);
  process.exitCode = error instanceof Unavailable ? 3 : 1;
}

function variable(text) {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError(`${text} is not NAME=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}
