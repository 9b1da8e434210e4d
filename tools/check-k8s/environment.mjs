// The environment that a container would start with.
import { findObject, namespaceOf, ofKind } from './objects.mjs';

/** What a Secret may hold, in a form that the services' schemas take. */
const PLACEHOLDERS = {
  DATABASE_URL: 'postgresql://user:password@postgres:5432/hindcast',
  API_KEYS: `agent:${'0'.repeat(64)}`,
  ADMIN_API_KEYS: `admin:${'0'.repeat(64)}`,
  SESSION_SECRET: '0'.repeat(32),
};

/**
 * `{ values: { NAME: text }, origins: { NAME: 'literal' | 'ConfigMap/x' | 'Secret/x' | 'pod' } }`. Names from a Secret have a placeholder for
 * their value; what refers to something that is not there is left out (the rule `references` says so).
 */
export function environmentOf(container, { namespace }, objects, { secrets }) {
  const values = {};
  const origins = {};
  const set = (name, value, origin) => {
    values[name] = value;
    origins[name] = origin;
  };
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef)
      for (const [name, value] of Object.entries(
        findObject(objects, 'ConfigMap', configMapRef.name, namespace)?.data ?? {},
      ))
        set(prefix + name, value, `ConfigMap/${configMapRef.name}`);
    if (secretRef)
      for (const name of secretKeysOf(secretRef.name, namespace, objects, secrets) ?? [])
        set(prefix + name, placeholderOf(prefix + name), `Secret/${secretRef.name}`);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    if (value !== undefined) set(name, expanded(value, values), 'literal');
    else if (valueFrom?.configMapKeyRef) {
      const { name: map, key } = valueFrom.configMapKeyRef;
      const found = findObject(objects, 'ConfigMap', map, namespace)?.data?.[key];
      if (found !== undefined) set(name, found, `ConfigMap/${map}`);
    } else if (valueFrom?.secretKeyRef) {
      if (!valueFrom.secretKeyRef.optional) set(name, placeholderOf(name), `Secret/${valueFrom.secretKeyRef.name}`);
    } else if (valueFrom) set(name, valueFrom.resourceFieldRef ? '1' : 'pod', 'pod');
  }
  return { values, origins };
}

/** Keys of a Secret: of the object, else of the list of those that users make; `undefined`: there is none. */
export function secretKeysOf(name, namespace, objects, secrets) {
  const made = findObject(objects, 'Secret', name, namespace);
  if (made) return Object.keys({ ...made.data, ...made.stringData });
  return keysOfOperators(name, namespace, objects) ?? secrets.get(name);
}

/** Secrets that cert-manager makes of a Certificate, and CloudNativePG of a Cluster. */
function keysOfOperators(name, namespace, objects) {
  const here = (kind) => ofKind(objects, kind).filter((object) => namespaceOf(object) === namespace);
  if (here('Certificate').some(({ spec }) => spec?.secretName === name)) return ['ca.crt', 'tls.crt', 'tls.key'];
  if (here('Cluster').some(({ metadata }) => name === `${metadata.name}-app`))
    return ['username', 'password', 'dbname', 'host', 'port', 'uri', 'jdbc-uri', 'pgpass'];
  return undefined;
}

const placeholderOf = (name) => PLACEHOLDERS[name] ?? 'placeholder';

/** `$(NAME)` stands for a variable that was set before. */
export const expanded = (value, values) =>
  String(value).replace(/\$\(([A-Z0-9_]+)\)/g, (text, name) => values[name] ?? text);
