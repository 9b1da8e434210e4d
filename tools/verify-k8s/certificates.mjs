// Two authorities, as a cluster has them: one for servers and clients, one for the API server's calls to aggregated APIs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';

const openssl = (...args) => run('openssl', args, { whatFailed: `openssl ${args[0]} failed:` });
const DAYS = '30';

/** Names of clients, with their groups: the ones that the control plane's own roles are bound to. */
const CLIENTS = {
  admin: '/O=system:masters/CN=verify-k8s',
  'kube-controller-manager': '/CN=system:kube-controller-manager',
  'kube-scheduler': '/CN=system:kube-scheduler',
  kwok: '/O=system:masters/CN=kwok',
  keda: '/O=system:masters/CN=keda',
};

/** Makes every certificate and key in `folder`. @returns path of a file by its name */
export async function makeCertificates(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = (name) => join(folder, name);
  for (const authority of ['ca', 'front-proxy-ca']) await makeAuthority(path, authority);
  await sign(path, 'ca', 'kube-apiserver', '/CN=kube-apiserver', [
    ...['IP:127.0.0.1', 'IP:10.0.0.1', 'DNS:localhost'],
    ...['DNS:kubernetes', 'DNS:kubernetes.default', 'DNS:kubernetes.default.svc'],
  ]);
  await sign(path, 'ca', 'keda-metrics-apiserver', '/CN=keda-metrics-apiserver', [
    ...['IP:127.0.0.1', 'DNS:localhost', 'DNS:keda-metrics-apiserver.keda.svc'],
  ]);
  await sign(path, 'front-proxy-ca', 'front-proxy-client', '/CN=front-proxy-client');
  for (const [name, subject] of Object.entries(CLIENTS)) await sign(path, 'ca', name, subject);
  await openssl('genrsa', '-out', path('service-account.key'), '2048');
  return path;
}

async function makeAuthority(path, name) {
  await openssl(
    ...['req', '-x509', '-new', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-days', DAYS, '-subj', `/CN=${name}`, '-keyout', path(`${name}.key`), '-out', path(`${name}.crt`)],
  );
}

async function sign(path, authority, name, subject, names = []) {
  await openssl(
    ...['req', '-new', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-subj', subject, '-keyout', path(`${name}.key`), '-out', path(`${name}.csr`)],
  );
  const extensions = [
    'extendedKeyUsage=serverAuth,clientAuth',
    ...(names.length ? [`subjectAltName=${names.join(',')}`] : []),
  ];
  writeFileSync(path(`${name}.ext`), `${extensions.join('\n')}\n`);
  await openssl(
    ...[
      'x509',
      '-req',
      '-in',
      path(`${name}.csr`),
      '-CA',
      path(`${authority}.crt`),
      '-CAkey',
      path(`${authority}.key`),
    ],
    ...['-CAcreateserial', '-days', DAYS, '-extfile', path(`${name}.ext`), '-out', path(`${name}.crt`)],
  );
}

/** Writes the kubeconfig of one client. @returns its path */
export function writeKubeconfig(folder, path, client, server) {
  const file = join(folder, `${client}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'verify', cluster: { server, 'certificate-authority': path('ca.crt') } }],
    users: [
      { name: client, user: { 'client-certificate': path(`${client}.crt`), 'client-key': path(`${client}.key`) } },
    ],
    contexts: [{ name: 'verify', context: { cluster: 'verify', user: client } }],
    'current-context': 'verify',
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
