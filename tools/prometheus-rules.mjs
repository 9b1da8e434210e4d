// `node tools/prometheus-rules.mjs > hindcast.rules.yaml`: the rules of k8s/components/monitoring as a rule file, for a Prometheus that no
// operator runs.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dump, load } from 'js-yaml';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'k8s/components/monitoring');
const groups = ['recording-rules', 'alerts'].flatMap(
  (name) => load(readFileSync(join(folder, `${name}.yaml`), 'utf8')).spec.groups,
);
process.stdout.write(dump({ groups }, { lineWidth: -1 }));
