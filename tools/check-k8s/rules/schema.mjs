// Every object is what its kind's pinned schema says, and has no key that the schema does not name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { idOf } from '../objects.mjs';

const FILES = ['kubernetes.json', 'keda.json', 'monitoring.json', 'cnpg.json', 'cert-manager.json'];

/** `validatorOf(object)` gives the compiled schema of its kind, or `undefined`. */
export function loadSchemas(folder) {
  const ajv = new Ajv({ allErrors: true, jsonPointers: true });
  const pointers = {};
  for (const file of FILES) {
    const { $id, kinds, definitions } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    ajv.addSchema({ $id, definitions });
    Object.assign(pointers, kinds);
  }
  return ({ apiVersion, kind }) => {
    const pointer = pointers[`${apiVersion}/${kind}`];
    return pointer && ajv.getSchema(pointer);
  };
}

export function schema(objects, { validatorOf }) {
  const seen = new Set();
  return objects.flatMap((object) => {
    const id = idOf(object);
    const key = [object.apiVersion, object.kind, object.metadata?.namespace, object.metadata?.name].join('/');
    if (seen.has(key)) return [{ object: id, message: 'is there twice; delete one' }];
    seen.add(key);
    const validate = validatorOf(object);
    if (!validate)
      return [
        {
          object: id,
          message: `no schema of ${object.apiVersion} ${object.kind} is pinned; name the kind in tools/check-k8s/make-schemas.mjs and run it`,
        },
      ];
    if (validate(object)) return [];
    return meaningful(validate.errors).map((error) => ({ object: id, message: sentence(error) }));
  });
}

/** One choice of several that none fits gives an error for each choice; the sum of them says enough. */
function meaningful(errors) {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  return errors.filter(
    (error) =>
      choices.includes(error) ||
      !choices.some(
        ({ dataPath, keyword }) => error.dataPath === dataPath && error.schemaPath.includes(`/${keyword}/`),
      ),
  );
}

function sentence({ keyword, dataPath, params, message }) {
  const where = dataPath.slice(1).replaceAll('/', '.').replaceAll('~1', '/') || 'the object';
  if (keyword === 'additionalProperties')
    return `${where} has no key "${params.additionalProperty}"; correct its name or its indentation, or delete it`;
  if (keyword === 'enum') return `${where} must be one of ${params.allowedValues.join(', ')}`;
  if (keyword === 'required') return `${where} lacks "${params.missingProperty}"; add it`;
  if (keyword === 'type') return `${where} must be of type ${params.type}; correct or quote the value`;
  return `${where} ${message}`;
}
