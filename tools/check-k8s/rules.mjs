// Every rule: a pure function `(objects, context) → { object, message }[]`. The name of a rule is the one that its problems carry.
import * as containers from './rules/containers.mjs';
import * as environment from './rules/environment.mjs';
import { gpu, gpuNodes } from './rules/gpu.mjs';
import { grace, priorities, replicas, trainer } from './rules/lifecycle.mjs';
import { busNames, scalingNames } from './rules/names.mjs';
import { arrows, isolation } from './rules/network.mjs';
import { references, urls } from './rules/references.mjs';
import { schema } from './rules/schema.mjs';
import { engineFlags, engineUrls, rolling } from './rules/serving.mjs';
import { monitors, ports, scaleTargets, selectors } from './rules/targets.mjs';
import { policyFolder, sharedClaims, streamReplicas, writable } from './rules/volumes.mjs';

export const rules = {
  schema,

  resources: containers.resources,
  probes: containers.probes,
  'non-root': containers.nonRoot,
  'read-only-root': containers.readOnlyRoot,
  capabilities: containers.capabilities,
  seccomp: containers.seccomp,
  token: containers.token,
  host: containers.host,
  images: containers.images,

  gpu,
  'gpu-nodes': gpuNodes,
  trainer,
  grace,
  replicas,
  rolling,
  priorities,

  'unread-variables': environment.unreadVariables,
  'needed-variables': environment.neededVariables,
  values: environment.values,
  'plain-secrets': environment.plainSecrets,
  'duplicate-variables': environment.duplicateVariables,
  settings: environment.settings,

  'bus-names': busNames,
  'scaling-names': scalingNames,

  isolation,
  arrows,

  selectors,
  monitors,
  'scale-targets': scaleTargets,
  ports,
  references,
  urls,

  writable,
  'shared-claims': sharedClaims,
  'policy-folder': policyFolder,
  'stream-replicas': streamReplicas,
  'engine-urls': engineUrls,
  'engine-flags': engineFlags,
};

/** @returns `{ rule, object, message }[]`, in the order of the table */
export function check(objects, context) {
  // The other rules read what the schemas promise.
  const broken = found('schema', objects, context);
  try {
    const others = Object.keys(rules).filter((rule) => rule !== 'schema');
    return [...broken, ...others.flatMap((rule) => found(rule, objects, context))];
  } catch (error) {
    if (broken.length > 0) return broken;
    throw error;
  }
}

function found(rule, objects, context) {
  const problems = rules[rule](objects, context);
  // Several containers or ports may give one sentence.
  const lines = new Map(problems.map(({ object, message }) => [`${object}\n${message}`, { rule, object, message }]));
  return [...lines.values()];
}
