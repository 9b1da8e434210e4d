import { find, maker, pod, container, variables, trigger, drop, type BrokenManifests } from './broken-by';

export const referenceTwins: readonly BrokenManifests[] = [
  {
    why: 'a Secret that nobody makes',
    rule: 'references',
    object: 'Deployment/judge-svc',
    says: 'there is no Secret/nobody-makes-it; define it or show it in k8s/',
    change: (objects) => (container(objects, 'judge-svc').env[0].valueFrom.secretKeyRef.name = 'nobody-makes-it'),
  },
  {
    why: 'a key that a Secret lacks',
    rule: 'references',
    object: 'Deployment/judge-svc',
    says: 'Secret/secrets has no key JUDGE_API_KEY',
    change: (objects) => delete find(objects, 'Secret', 'secrets').stringData.JUDGE_API_KEY,
  },
  {
    why: 'a ConfigMap that is not there',
    rule: 'references',
    object: 'StatefulSet/nats',
    says: 'there is no ConfigMap/nats',
    change: (objects) => pod(objects, 'nats').volumes.push({ name: 'config', configMap: { name: 'nats' } }),
  },
  {
    why: 'a claim that is not there',
    rule: 'references',
    object: 'StatefulSet/nats',
    says: 'there is no PersistentVolumeClaim/models',
    change: (objects) =>
      pod(objects, 'nats').volumes.push({ name: 'models', persistentVolumeClaim: { claimName: 'models' } }),
  },
  {
    why: 'a mount of no volume',
    rule: 'references',
    object: 'StatefulSet/nats',
    says: 'container nats mounts config, which is no volume of the pod',
    change: (objects) => container(objects, 'nats').volumeMounts.push({ name: 'config', mountPath: '/etc/nats' }),
  },
  {
    why: 'an account that is not there',
    rule: 'references',
    object: 'Job/dispatcher-migrate',
    says: 'there is no ServiceAccount/dispatcher-migrate',
    change: (objects) => drop(objects, 'ServiceAccount', 'dispatcher-migrate'),
  },
  {
    why: 'a priority class that is not there',
    rule: 'references',
    object: 'Deployment/trainer',
    says: 'there is no PriorityClass/training',
    change: (objects) => drop(objects, 'PriorityClass', 'training'),
  },
  {
    why: 'a Service that is not there',
    rule: 'urls',
    object: 'Deployment/gateway container gateway',
    says: 'POLICY_BASE_URL names vllm:8000, which no Service is',
    change: (objects) => (variables(objects, 'gateway').POLICY_BASE_URL = 'http://vllm:8000/v1'),
  },
  {
    why: 'a port that a Service lacks',
    rule: 'urls',
    object: 'Deployment/gateway container gateway',
    says: 'NATS_URL names nats-1.nats:4223, which no Service is',
    change: (objects) => (variables(objects, 'gateway').NATS_URL = 'nats://nats-0.nats:4222,nats://nats-1.nats:4223'),
  },
  {
    why: "a name that KEDA's namespace does not have",
    rule: 'urls',
    object: 'ScaledObject/judge-svc',
    says: "natsServerMonitoringEndpoint nats:8222 is no Service as KEDA's namespace sees it",
    change: (objects) => (trigger(objects).natsServerMonitoringEndpoint = 'nats:8222'),
  },
];

export const volumeTwins: readonly BrokenManifests[] = [
  {
    why: 'a data folder on the read-only root',
    rule: 'writable',
    object: 'Deployment/gateway container gateway',
    says: 'writes to /spool',
    change: (objects) => (variables(objects, 'gateway').DATA_DIR = '/spool'),
  },
  {
    why: 'a data folder that is mounted read-only',
    rule: 'writable',
    object: 'Deployment/gateway container gateway',
    says: 'writes to /data',
    change: (objects) => (container(objects, 'gateway').volumeMounts[0].readOnly = true),
  },
  {
    why: 'one node writes, two pods mount',
    rule: 'shared-claims',
    object: 'PersistentVolumeClaim/policies',
    says: 'Deployment/trainer and Deployment/vllm-policy mount it; set accessModes: [ReadWriteMany]',
    change: (objects) => (find(objects, 'PersistentVolumeClaim', 'policies').spec.accessModes = ['ReadWriteOnce']),
  },
  {
    why: 'versions where the engine does not see them',
    rule: 'policy-folder',
    object: 'Deployment/vllm-policy',
    says: "must see the trainer's /policies",
    change: (objects) => (container(objects, 'vllm-policy').volumeMounts[2].mountPath = '/adapters'),
  },
  {
    why: 'versions that end with the pod',
    rule: 'policy-folder',
    object: 'Deployment/trainer',
    says: 'POLICY_DIR /data/policies is on no PersistentVolumeClaim',
    change: (objects) => (variables(objects, 'trainer').POLICY_DIR = '/data/policies'),
  },
  {
    why: 'fewer copies than servers would keep',
    rule: 'stream-replicas',
    object: 'Deployment/judge-svc container judge-svc',
    says: 'NATS_REPLICAS is 1 beside 3 NATS servers; set it to 3',
    change: (objects) => delete variables(objects, 'judge-svc').NATS_REPLICAS,
  },
  {
    why: 'two engines behind one name',
    rule: 'engine-urls',
    object: 'Deployment/trainer',
    says: 'name each of vllm-policy-0.vllm-policy, vllm-policy-1.vllm-policy',
    change: (objects) => {
      const engine = maker(objects, 'vllm-policy');
      Object.assign(engine, { kind: 'StatefulSet' });
      Object.assign(engine.spec, { replicas: 2, serviceName: 'vllm-policy' });
      delete engine.spec.strategy;
    },
  },
  {
    why: 'adapters of a rank that the engine refuses',
    rule: 'engine-flags',
    object: 'Deployment/vllm-policy',
    says: 'set --max-lora-rank=64 or more, as LORA_RANK is 64',
    change: (objects) => (variables(objects, 'trainer').LORA_RANK = '64'),
  },
  {
    why: 'an engine that takes no adapter',
    rule: 'engine-flags',
    object: 'Deployment/vllm-policy',
    says: 'set --enable-lora',
    change: (objects) => container(objects, 'vllm-policy').args.splice(2, 1),
  },
  {
    why: 'an engine that takes none while it serves',
    rule: 'engine-flags',
    object: 'Deployment/vllm-policy',
    says: 'set VLLM_ALLOW_RUNTIME_LORA_UPDATING',
    change: (objects) => delete container(objects, 'vllm-policy').env,
  },
  {
    why: 'a model that the engine calls otherwise',
    rule: 'engine-flags',
    object: 'Deployment/vllm-policy',
    says: 'set --served-model-name=llama',
    change: (objects) => (variables(objects, 'gateway').POLICY_MODEL = 'llama'),
  },
];
