// Published schemas, reduced to what decides whether an object is accepted, and closed: a key that they do not name is an error, where an
// API server would drop it without a word.

const KEPT = [
  'type',
  'required',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
];
const INT_OR_STRING = { anyOf: [{ type: 'integer' }, { type: 'string' }] };
/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const QUANTITY = {
  anyOf: [
    { type: 'number' },
    { type: 'string', pattern: '^[+-]?\\d+(\\.\\d+)?([KMGTPE]i|[munkMGTPE]|[eE][+-]?\\d+)?$' },
  ],
};
const METADATA = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Names of the definitions that `roots` need, themselves included. */
export function reachable(definitions, roots) {
  const found = new Set();
  const waiting = [...roots];
  while (waiting.length > 0) {
    const name = waiting.pop();
    if (found.has(name)) continue;
    found.add(name);
    const used = { ...definitions[name], properties: { ...definitions[name].properties } };
    // Of a whole object nobody writes the status.
    if (roots.includes(name)) delete used.properties.status;
    for (const [, target] of JSON.stringify(used).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)) waiting.push(target);
  }
  return found;
}

/** A definition of the core API's OpenAPI. */
export function closed(definition, { name = '', enums = {}, isRoot = false } = {}) {
  if (name.endsWith('.intstr.IntOrString')) return INT_OR_STRING;
  if (name.endsWith('.resource.Quantity')) return QUANTITY;
  if (definition.$ref) return { $ref: definition.$ref };
  const schema = kept(definition);
  if (definition.items) schema.items = closed(definition.items);
  if (typeof definition.additionalProperties === 'object')
    schema.additionalProperties = closed(definition.additionalProperties);
  if (definition.properties) {
    schema.properties = mapped(definition.properties, (property) => closed(property));
    schema.additionalProperties = false;
    for (const [key, { values, isList }] of Object.entries(enums[name] ?? {}))
      if (schema.properties[key]) {
        if (isList) schema.properties[key].items = { type: 'string', enum: values };
        else schema.properties[key].enum = values;
      }
    if (isRoot) {
      delete schema.properties.status;
      schema.required = [...new Set(['apiVersion', 'kind', 'metadata', ...(schema.required ?? [])])];
    }
  }
  return schema;
}

/** The schema of a CustomResourceDefinition's version; its metadata is the core API's, in `coreFile`. */
export function closedCustom(definition, coreFile) {
  const schema = closedPart(definition);
  delete schema.properties.status;
  schema.properties.metadata = { $ref: `${coreFile}#/definitions/${METADATA}` };
  schema.required = [...new Set(['apiVersion', 'kind', 'metadata', ...(schema.required ?? [])])];
  if (schema.required.includes('status')) schema.required = schema.required.filter((key) => key !== 'status');
  return schema;
}

function closedPart(definition) {
  const isIntOrString = definition['x-kubernetes-int-or-string'] === true;
  const schema = isIntOrString ? { ...kept(definition), ...INT_OR_STRING } : kept(definition);
  if (definition.nullable && schema.type) schema.type = [schema.type, 'null'];
  if (definition.items) schema.items = closedPart(definition.items);
  if (typeof definition.additionalProperties === 'object')
    schema.additionalProperties = closedPart(definition.additionalProperties);
  if (definition.properties) {
    schema.properties = mapped(definition.properties, closedPart);
    if (!definition['x-kubernetes-preserve-unknown-fields'] && definition.additionalProperties === undefined)
      schema.additionalProperties = false;
  }
  // Their parts only say which of the properties go together.
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    if (definition[key] && !isIntOrString) schema[key] = definition[key].map(openPart);
  if (definition.not) schema.not = openPart(definition.not);
  return schema;
}

function openPart(definition) {
  const schema = kept(definition);
  if (definition.properties) schema.properties = mapped(definition.properties, openPart);
  for (const key of ['anyOf', 'oneOf', 'allOf']) if (definition[key]) schema[key] = definition[key].map(openPart);
  if (definition.not) schema.not = openPart(definition.not);
  return schema;
}

function kept(definition) {
  const schema = Object.fromEntries(
    KEPT.filter((key) => definition[key] !== undefined).map((key) => [key, definition[key]]),
  );
  // Go's patterns may have flags inside, which JavaScript's have not.
  if (schema.pattern && !isPattern(schema.pattern)) delete schema.pattern;
  return schema;
}

function isPattern(text) {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function mapped(record, make) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value)]));
}
