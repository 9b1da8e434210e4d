import { find, container, variables, type BrokenManifests } from './broken-by';

export const schemaTwins: readonly BrokenManifests[] = [
  {
    why: 'a key that no Deployment has',
    rule: 'schema',
    object: 'Deployment/gateway',
    says: 'spec has no key "replica"',
    change: (objects) => (find(objects, 'Deployment', 'gateway').spec.replica = 2),
  },
  {
    why: 'a key that is indented too little',
    rule: 'schema',
    object: 'Deployment/gateway',
    says: 'spec.template.spec.containers.0 has no key "runAsUser"',
    change: (objects) => (container(objects, 'gateway').runAsUser = 10001),
  },
  {
    why: 'a number where a text belongs',
    rule: 'schema',
    object: 'ConfigMap/gateway',
    says: 'data.PORT must be of type string',
    change: (objects) => (variables(objects, 'gateway').PORT = 8080),
  },
  {
    why: 'a word that the API does not know',
    rule: 'schema',
    object: 'PersistentVolumeClaim/policies',
    says: 'spec.accessModes.1 must be one of ReadWriteOnce',
    change: (objects) => find(objects, 'PersistentVolumeClaim', 'policies').spec.accessModes.push('ReadWriteAll'),
  },
  {
    why: 'a required key that is missing',
    rule: 'schema',
    object: 'Deployment/vllm-policy',
    says: 'spec.template.spec.containers.0 lacks "name"',
    change: (objects) => delete container(objects, 'vllm-policy').name,
  },
  {
    why: 'an unknown key of a ScaledObject',
    rule: 'schema',
    object: 'ScaledObject/judge-svc',
    says: 'spec has no key "coolDown"',
    change: (objects) => (find(objects, 'ScaledObject', 'judge-svc').spec.coolDown = 60),
  },
  {
    why: 'a kind without a schema',
    rule: 'schema',
    object: 'Certificate/x',
    says: 'no schema of example.com/v1 Certificate is pinned',
    change: (objects) => objects.push({ apiVersion: 'example.com/v1', kind: 'Certificate', metadata: { name: 'x' } }),
  },
  {
    why: 'an object that is there twice',
    rule: 'schema',
    object: 'ServiceAccount/nats',
    says: 'is there twice',
    change: (objects) => objects.push(find(objects, 'ServiceAccount', 'nats')),
  },
];
