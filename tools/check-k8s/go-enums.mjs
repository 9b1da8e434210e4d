// The values of the Kubernetes API's enumerations, read from its Go types: the published OpenAPI lists them in prose only.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `{ 'io.k8s.api.core.v1.Toleration': { operator: ['Exists', 'Equal'], … } }` of the module k8s.io/api in `folder`.
 * A type counts as an enumeration when it is marked `+enum`; one without values is left out.
 */
export function enumsOf(folder) {
  const enums = {};
  for (const group of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    for (const version of readdirSync(join(folder, group.name)).filter((name) => /^v\d+$/.test(name))) {
      const source = typesOf(join(folder, group.name, version));
      const values = valuesOf(source);
      for (const [, struct, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm))
        for (const [, isList, type, key] of body.matchAll(/^\s+\w+ (\[\])?\*?(\w+) `json:"(\w+)/gm))
          if (values.has(type)) {
            const definition = (enums[`io.k8s.api.${group.name}.${version}.${struct}`] ??= {});
            definition[key] = { values: values.get(type), isList: isList !== undefined };
          }
    }
  return enums;
}

function typesOf(folder) {
  const path = join(folder, 'types.go');
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function valuesOf(source) {
  const marked = [...source.matchAll(/^\/\/ \+enum\n(?:\/\/.*\n)*type (\w+) string/gm)].map(([, type]) => type);
  const values = new Map();
  for (const type of marked) {
    const found = [...source.matchAll(new RegExp(`^\\s+\\w+ +${type} += +"([^"]*)"`, 'gm'))].map(([, value]) => value);
    if (found.length > 0) values.set(type, [...new Set(found)]);
  }
  return values;
}
