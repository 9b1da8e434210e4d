// What the manifests are compared with: the services' own configuration schemas, the names on the bus, the pinned schemas, the Secrets that
// users make. Reads built files; rules get it as a value.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { YAML11_SCHEMA, load, loadAll } from 'js-yaml';
import { appOfImage } from './objects.mjs';
import { loadSchemas } from './rules/schema.mjs';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const SECRETS_FILE = 'k8s/secrets.example.yaml';
/** The ConfigMap with what several workloads must agree on; kustomize copies its values into theirs. */
const SETTINGS = 'hindcast-settings';
const APPS = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer', 'engine', 'demo-judge'];

/** @throws Error with what to do when the services are not built */
export function loadContext() {
  const unbuilt = APPS.filter((app) => !existsSync(join(root, `apps/${app}/dist/config.js`)));
  if (unbuilt.length > 0) throw new Error(`${unbuilt.join(', ')} not built; run: npm run build`);
  const require = createRequire(import.meta.url);
  const { parseConfig } = require('@hindcast/platform');
  const { buckets, contracts, durableName, queries, streams } = require('@hindcast/contracts');
  const services = new Map(
    APPS.map((app) => [app, serviceFrom(app, require(join(root, `apps/${app}/dist/config.js`)), parseConfig)]),
  );
  // A registry may have other names for the images; containers are named like their app.
  const appIn = ({ image, name }) => services.get(appOfImage(image)) ?? services.get(name);
  return {
    services,
    appIn,
    /** The service that a container starts; `undefined` where it runs something else, or a command of its own. */
    serviceOf: (container) => (container.command || container.args ? undefined : appIn(container)),
    validatorOf: loadSchemas(join(root, 'k8s/schemas')),
    secrets: existsSync(join(root, SECRETS_FILE))
      ? secretsIn(readFileSync(join(root, SECRETS_FILE), 'utf8'))
      : new Map(),
    secretsFile: SECRETS_FILE,
    settings: { name: SETTINGS, copies: copiesOfSettings() },
    bus: {
      subjects: [...Object.values(contracts), ...Object.values(queries)].map(({ subject }) => subject),
      streams: Object.keys(streams),
      buckets: Object.values(buckets),
      /** consumer → `{ app, stream }` */
      consumers: new Map(
        Object.values(contracts).flatMap(({ subject, handlers }) =>
          handlers.map((app) => [
            durableName(app, subject),
            { app, stream: Object.keys(streams).find((stream) => streams[stream].includes(subject)) },
          ]),
        ),
      ),
    },
  };
}

/** `{ app, variables, parse(values) → { config } | { mistakes } }` of an app's config.js. */
function serviceFrom(app, exported, parseConfig) {
  const [, schema] = Object.entries(exported).find(([name]) => name.endsWith('Config') && !name.startsWith('read'));
  return {
    app,
    variables: new Set(Object.keys(shapeOf(schema))),
    parse(values) {
      try {
        return { config: parseConfig(app, schema, values), mistakes: [] };
      } catch (error) {
        return {
          mistakes: error.message
            .split('\n')
            .slice(1)
            .map((line) => line.trim()),
        };
      }
    },
  };
}

/** The fields of the object inside everything that wraps it: refinements, pipes, transforms. */
function shapeOf({ def }) {
  if (def.shape) return def.shape;
  const inner = def.innerType ?? def.in ?? def.schema;
  if (!inner) throw new Error('a configuration schema without an object; teach tools/check-k8s/context.mjs to read it');
  return shapeOf(inner);
}

/** Name → keys of the Secrets that a YAML file shows. */
export function secretsIn(text) {
  const objects = loadAll(text, { schema: YAML11_SCHEMA }).filter((object) => object?.kind === 'Secret');
  return new Map(
    objects.map(({ metadata, data, stringData }) => [metadata.name, Object.keys({ ...data, ...stringData })]),
  );
}

/** What the components' replacements copy of the settings: `{ key, map, as }`, the key, the ConfigMap it goes to (or none) and its name there. */
function copiesOfSettings() {
  const folder = join(root, 'k8s/components');
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'kustomization.yaml')) : [];
  const keyOf = (path) => /^data\.(.+)$/.exec(path)?.[1];
  return files
    .filter(existsSync)
    .flatMap((file) => load(readFileSync(file, 'utf8'))?.replacements ?? [])
    .filter(({ source }) => source?.name === SETTINGS)
    .flatMap(({ source, targets }) =>
      targets.flatMap(({ select, fieldPaths }) =>
        fieldPaths.map((path) => ({
          key: keyOf(source.fieldPath),
          map: select.kind === 'ConfigMap' ? select.name : undefined,
          as: keyOf(path),
        })),
      ),
    );
}
