// Renders every overlay and checks the objects by the rules of ./rules.mjs. Prints one line a problem,
// `overlay · object · rule · what to do`, and ends with 1 if there is one. `node tools/check-k8s/main.mjs --help`
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadContext, root } from './context.mjs';
import { overlays } from './overlays.mjs';
import {
  REMEDY,
  hasKubectl,
  looseFiles,
  objectsIn,
  overlayNames,
  render,
  renderBeside,
  renderWith,
  unusedComponents,
} from './render.mjs';
import { check, rules } from './rules.mjs';

const HELP = `npm run check:k8s -- [options] [FILE.yaml …]

Renders the overlays of k8s/overlays with kubectl kustomize and checks what comes out; a component that no overlay has is checked on
top of production, a file beside the overlays together with gpu. With files, checks these rendered objects instead and needs no kubectl; a file named like an overlay is checked as that overlay.

  --overlay NAME    only this overlay; may be given several times
  --json            the problems as JSON: [{ "overlay", "objects", "problems": [{ "rule", "object", "message" }] }]
  --skip-without-kubectl   says that nothing was checked, and ends with 0, where there is no kubectl
  --help            this text

Rules: ${Object.keys(rules).join(', ')}
`;

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`check:k8s: ${error.message}\n`);
  process.exitCode = 2;
}

function main(args) {
  const { values: options, positionals: files } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      overlay: { type: 'string', multiple: true },
      json: { type: 'boolean' },
      'skip-without-kubectl': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (files.length === 0 && !hasKubectl()) {
    if (!options['skip-without-kubectl']) throw new Error(REMEDY);
    process.stdout.write(`check:k8s skipped, the manifests were not checked: ${REMEDY}\n`);
    return 0;
  }
  const context = loadContext();
  const results = sourcesOf(options.overlay, files).map(({ overlay, label = overlay, objectsOf }) => ({
    overlay: label,
    ...checked(overlay, objectsOf, context),
  }));
  if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else print(results);
  return results.some(({ problems }) => problems.length > 0) ? 1 : 0;
}

function sourcesOf(names, files) {
  if (files.length > 0)
    return files.map((file) => ({
      overlay: basename(file).replace(/\.ya?ml$/, ''),
      objectsOf: () => objectsIn(readFileSync(file, 'utf8')),
    }));
  const known = overlayNames(root);
  const unknown = (names ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`there is no overlay ${unknown.join(', ')}; there are ${known.join(', ')}`);
  const overlaysNamed = (names ?? known).map((overlay) => ({
    overlay,
    objectsOf: () => render(join(root, 'k8s/overlays', overlay)),
  }));
  return names === undefined ? [...overlaysNamed, ...extraSources()] : overlaysNamed;
}

/** What no overlay has is checked together with one. */
function extraSources() {
  return [
    ...unusedComponents(root).map((component) => ({
      overlay: 'production',
      label: `production + ${component}`,
      objectsOf: () => renderWith(root, 'production', component),
    })),
    ...looseFiles(root).map((file) => ({
      overlay: 'gpu',
      label: `gpu + ${file}`,
      objectsOf: () => renderBeside(root, 'gpu', file),
    })),
  ];
}

function isNamed({ apiVersion, kind, metadata }) {
  return Boolean(apiVersion && kind && metadata?.name);
}

function checked(overlay, objectsOf, context) {
  let objects;
  try {
    objects = objectsOf();
  } catch (error) {
    return {
      objects: 0,
      problems: [{ rule: 'render', object: 'kustomization', message: `cannot be rendered: ${error.message}` }],
    };
  }
  const empty = objects.length === 0;
  if (empty || !objects.every(isNamed))
    return {
      objects: objects.length,
      problems: [
        {
          rule: 'render',
          object: 'kustomization',
          message: empty
            ? 'holds no object at all'
            : 'holds what is no object: apiVersion, kind and a name are missing',
        },
      ],
    };
  const problems = check(objects, { ...context, overlay: { name: overlay, ...overlays[overlay] } });
  return { objects: objects.length, problems };
}

function print(results) {
  for (const { overlay, problems } of results)
    for (const { object, rule, message } of problems)
      process.stdout.write(`${overlay} · ${object} · ${rule} · ${message}\n`);
  const problems = results.reduce((sum, result) => sum + result.problems.length, 0);
  const shown = results.map(({ overlay, objects }) => `${overlay} (${objects} objects)`).join(', ');
  process.stdout.write(
    `check:k8s: ${problems === 0 ? 'no problem' : `${problems} problem${problems === 1 ? '' : 's'}`} in ${shown}; ${Object.keys(rules).length} rules\n`,
  );
}
