/**
 * Metrics that rules and dashboards may name although no service of Hindcast exposes them, with their labels: those of Prometheus itself,
 * of kube-state-metrics and of cAdvisor.
 */
export const OUTSIDE_METRICS: Readonly<Record<string, readonly string[]>> = {
  up: [],
  kube_deployment_status_replicas_available: ['deployment'],
  kube_pod_container_resource_limits: ['resource', 'unit', 'node'],
  kube_pod_container_status_restarts_total: ['uid'],
  container_memory_working_set_bytes: ['id', 'image', 'name', 'node'],
};

/** Labels that the scrape adds to every series. */
export const TARGET_LABELS: readonly string[] = [
  'namespace',
  'pod',
  'container',
  'service',
  'endpoint',
  'job',
  'instance',
];
