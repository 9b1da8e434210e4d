import { container, variables, type BrokenManifests } from './broken-by';
import type { Manifest } from './parts';

export const environmentTwins: readonly BrokenManifests[] = [
  {
    why: "another service's variable",
    rule: 'unread-variables',
    object: 'Deployment/gateway container gateway',
    says: 'gateway reads no variable JUDGE_MODEL (ConfigMap/gateway)',
    change: (objects) => (variables(objects, 'gateway').JUDGE_MODEL = 'x'),
  },
  {
    why: 'one of another registry and of a variant',
    rule: 'unread-variables',
    object: 'Deployment/trainer container trainer',
    says: 'trainer reads no variable LORA_RANG',
    change: (objects) => {
      container(objects, 'trainer').image = 'registry.example.com/team/trainer-onnx:0.1.0';
      variables(objects, 'trainer').LORA_RANG = '8';
    },
  },
  {
    why: 'a misspelt one of a command',
    rule: 'unread-variables',
    object: 'Job/dispatcher-migrate container migrate',
    says: 'dispatcher reads no variable DATABSE_POOL_SIZE (literal)',
    change: (objects) => container(objects, 'dispatcher-migrate').env.push({ name: 'DATABSE_POOL_SIZE', value: '1' }),
  },
  ...(
    [
      ['gateway', 'POLICY_BASE_URL'],
      ['judge-svc', 'JUDGE_BASE_URL'],
      ['dispatcher', 'NATS_URL'],
      ['trainer', 'MODEL_DIR'],
    ] as const
  ).map(([app, name]) => ({
    why: `${app} without ${name}`,
    rule: 'needed-variables',
    object: `Deployment/${app} container ${app}`,
    says: `lacks ${name}`,
    change: (objects: Manifest[]) => delete variables(objects, app)[name],
  })),
  {
    why: 'gateways that each have a secret of their own',
    rule: 'needed-variables',
    object: 'Deployment/gateway container gateway',
    says: 'lacks SESSION_SECRET',
    change: (objects) => container(objects, 'gateway').env.shift(),
  },
  {
    why: 'a migration without a database',
    rule: 'needed-variables',
    object: 'Job/dispatcher-migrate container migrate',
    says: 'lacks DATABASE_URL',
    change: (objects) => delete container(objects, 'dispatcher-migrate').env,
  },
  {
    why: 'one that no component copies',
    rule: 'settings',
    object: 'ConfigMap/hindcast-settings',
    says: 'no component reads BATCH_SIZ',
    change: (objects) => (variables(objects, 'hindcast-settings').BATCH_SIZ = '32'),
  },
  {
    why: 'one that was not copied',
    rule: 'settings',
    object: 'ConfigMap/dispatcher',
    says: 'METHOD is "combine", and METHOD of ConfigMap/hindcast-settings is "opd"',
    change: (objects) => (variables(objects, 'hindcast-settings').METHOD = 'opd'),
  },
  {
    why: 'a value that the schema refuses',
    rule: 'values',
    object: 'Deployment/gateway container gateway',
    says: 'POLICY_DIALECT: ',
    change: (objects) => (variables(objects, 'gateway').POLICY_DIALECT = 'vlm'),
  },
  {
    why: 'values that do not go together',
    rule: 'values',
    object: 'Deployment/judge-svc container judge-svc',
    says: 'EVAL_QUORUM: 1 votes',
    change: (objects) => Object.assign(variables(objects, 'judge-svc'), { EVAL_VOTES: '1', EVAL_QUORUM: '3' }),
  },
  {
    why: 'an address that only the pod itself reaches',
    rule: 'values',
    object: 'Deployment/dispatcher container dispatcher',
    says: 'where no other pod reaches it',
    change: (objects) => (variables(objects, 'dispatcher').HOST = '127.0.0.1'),
  },
  {
    why: 'another port than the one declared',
    rule: 'values',
    object: 'Deployment/judge-svc container judge-svc',
    says: 'listens on port 9000',
    change: (objects) => (variables(objects, 'judge-svc').PORT = '9000'),
  },
  {
    why: 'a key in a ConfigMap',
    rule: 'plain-secrets',
    object: 'Deployment/gateway container gateway',
    says: 'POLICY_API_KEY is a secret in plain sight (ConfigMap/gateway)',
    change: (objects) => (variables(objects, 'gateway').POLICY_API_KEY = 'hush'),
  },
  {
    why: 'hashes of administrators’ keys in a ConfigMap',
    rule: 'plain-secrets',
    object: 'Deployment/gateway container gateway',
    says: 'ADMIN_API_KEYS is a secret in plain sight (ConfigMap/gateway)',
    change: (objects) => (variables(objects, 'gateway').ADMIN_API_KEYS = `admin:${'0'.repeat(64)}`),
  },
  {
    why: 'a password in a URL',
    rule: 'plain-secrets',
    object: 'Deployment/gateway container gateway',
    says: 'NATS_URL is a secret in plain sight',
    change: (objects) => (variables(objects, 'gateway').NATS_URL = 'nats://me:hush@nats:4222'),
  },
  {
    why: 'a variable that is set twice',
    rule: 'duplicate-variables',
    object: 'Job/dispatcher-migrate container migrate',
    says: 'sets LOG_LEVEL twice',
    change: (objects) =>
      container(objects, 'dispatcher-migrate').env.push(
        { name: 'LOG_LEVEL', value: 'info' },
        { name: 'LOG_LEVEL', value: 'warn' },
      ),
  },
];
