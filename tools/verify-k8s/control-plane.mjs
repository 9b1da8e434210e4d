import { join } from 'node:path';
import { writeKubeconfig, makeCertificates } from './certificates.mjs';
import { Kubectl } from './kubectl.mjs';
import { freePorts } from './processes.mjs';

/** How often the controller looks at its autoscalers; a cluster's default is 15 s. */
const HPA_PERIOD = '5s';

/**
 * Starts etcd, the API server, its controllers, the scheduler, and kwok in the place of every kubelet. All listen on loopback.
 *
 * @returns how to talk to it: `kubectl`, `kubeconfig(client)`, `certificate(name)`
 */
export async function startControlPlane({ bin, folder, processes, stages, say }) {
  const certificate = await makeCertificates(join(folder, 'certificates'));
  const [etcdPort, peerPort, port, controllerPort, schedulerPort, kwokPort] = await freePorts(6);
  const server = `https://127.0.0.1:${port}`;
  const kubeconfig = (client) => writeKubeconfig(folder, certificate, client, server);
  const kubectl = new Kubectl(kubeconfig('admin'));

  say('starting etcd and kube-apiserver…');
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const etcd = processes.start('etcd', join(bin, 'etcd'), [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    '--unsafe-no-fsync',
  ]);
  await processes.untilReady(etcd, async () => (await fetch(`${etcdUrl}/health`)).ok);

  const apiserver = processes.start('kube-apiserver', join(bin, 'kube-apiserver'), [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--endpoint-reconciler-type=none',
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/16',
    `--client-ca-file=${certificate('ca.crt')}`,
    `--tls-cert-file=${certificate('kube-apiserver.crt')}`,
    `--tls-private-key-file=${certificate('kube-apiserver.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${certificate('service-account.key')}`,
    `--service-account-signing-key-file=${certificate('service-account.key')}`,
    `--requestheader-client-ca-file=${certificate('front-proxy-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${certificate('front-proxy-client.crt')}`,
    `--proxy-client-key-file=${certificate('front-proxy-client.key')}`,
  ]);
  await processes.untilReady(apiserver, async () => (await kubectl.run(['get', '--raw', '/readyz'])) === 'ok', 120_000);

  say('starting kube-controller-manager, kube-scheduler and kwok…');
  const managed = (client) => {
    const file = kubeconfig(client);
    return [`--kubeconfig=${file}`, `--authentication-kubeconfig=${file}`, `--authorization-kubeconfig=${file}`];
  };
  const controllers = processes.start('kube-controller-manager', join(bin, 'kube-controller-manager'), [
    ...managed('kube-controller-manager'),
    '--bind-address=127.0.0.1',
    `--secure-port=${controllerPort}`,
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${certificate('service-account.key')}`,
    `--root-ca-file=${certificate('ca.crt')}`,
    `--horizontal-pod-autoscaler-sync-period=${HPA_PERIOD}`,
  ]);
  const scheduler = processes.start('kube-scheduler', join(bin, 'kube-scheduler'), [
    ...managed('kube-scheduler'),
    '--bind-address=127.0.0.1',
    `--secure-port=${schedulerPort}`,
    '--leader-elect=false',
  ]);
  const kwok = processes.start('kwok', join(bin, 'kwok'), [
    `--kubeconfig=${kubeconfig('kwok')}`,
    '--manage-all-nodes=true',
    `--config=${stages}`,
    `--server-address=127.0.0.1:${kwokPort}`,
    '--node-lease-duration-seconds=40',
  ]);
  await processes.untilReady(controllers, async () => {
    await kubectl.run(['get', 'serviceaccount', 'default', '-n', 'default']);
    return true;
  });
  for (const entry of [scheduler, kwok]) await processes.untilReady(entry, async () => true);
  return { kubectl, kubeconfig, certificate, server };
}
