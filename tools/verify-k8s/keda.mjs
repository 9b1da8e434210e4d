// KEDA's operator and metrics adapter as processes, and the aggregated API through which the autoscaler asks the adapter.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from './processes.mjs';

const NAMESPACE = 'keda';
const API = 'v1beta1.external.metrics.k8s.io';

/** Starts KEDA. Waits until the API server takes its metrics for available. */
export async function startKeda({ bin, folder, processes, controlPlane: { kubectl, kubeconfig, certificate }, say }) {
  say('starting KEDA…');
  const certificates = join(folder, 'keda');
  mkdirSync(certificates, { recursive: true });
  for (const [from, to] of [
    ['ca.crt', 'ca.crt'],
    ['keda-metrics-apiserver.crt', 'tls.crt'],
    ['keda-metrics-apiserver.key', 'tls.key'],
  ])
    copyFileSync(certificate(from), join(certificates, to));
  const [metricsPort, probePort, grpcPort, securePort, adapterMetricsPort] = await freePorts(5);
  const config = kubeconfig('keda');
  const env = { WATCH_NAMESPACE: '', POD_NAMESPACE: NAMESPACE, KEDA_CLUSTER_OBJECT_NAMESPACE: NAMESPACE };

  const operator = processes.start(
    'keda-operator',
    join(bin, 'keda-operator'),
    [
      `--kubeconfig=${config}`,
      `--metrics-bind-address=127.0.0.1:${metricsPort}`,
      `--health-probe-bind-address=127.0.0.1:${probePort}`,
      `--metrics-service-bind-address=127.0.0.1:${grpcPort}`,
      `--cert-dir=${certificates}`,
      '--enable-webhook-patching=false',
    ],
    env,
  );
  await processes.untilReady(operator, async () => (await fetch(`http://127.0.0.1:${probePort}/readyz`)).ok);

  const adapter = processes.start(
    'keda-adapter',
    join(bin, 'keda-adapter'),
    [
      `--kubeconfig=${config}`,
      `--lister-kubeconfig=${config}`,
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${securePort}`,
      `--port=${adapterMetricsPort}`,
      `--metrics-service-address=localhost:${grpcPort}`,
      `--client-ca-file=${join(certificates, 'ca.crt')}`,
      `--cert-dir=${certificates}`,
      `--tls-cert-file=${join(certificates, 'tls.crt')}`,
      `--tls-private-key-file=${join(certificates, 'tls.key')}`,
    ],
    env,
  );
  await kubectl.apply(
    JSON.stringify(aggregatedApi(securePort, readFileSync(certificate('ca.crt')).toString('base64'))),
  );
  await processes.untilReady(adapter, async () => {
    const { status } = await kubectl.get('apiservice', API);
    return status?.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True') ?? false;
  });
}

/** The adapter is no pod: its Service is a name of this machine. */
const aggregatedApi = (port, caBundle) => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'keda-metrics-apiserver', namespace: NAMESPACE },
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ name: 'https', port, protocol: 'TCP' }] },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: API },
      spec: {
        service: { name: 'keda-metrics-apiserver', namespace: NAMESPACE, port },
        group: 'external.metrics.k8s.io',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        caBundle,
      },
    },
  ],
});
