import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../setup.mjs';

export const USAGE = `Usage: npm run verify:k8s -- [options]

Applies the overlays of k8s/ to a real control plane on this machine and proves what they promise. Needs Go 1.24 or newer, kubectl, openssl
and a nats-server. The first run builds the control plane from Go modules, which takes half an hour on two cores and longer on busy ones; it is kept.

  --only NAMES   proofs to run, separated by commas: overlays, placement, backlog, rollout (default: all)
  --k8s DIR      folder with overlays/ (default: k8s)
  --data DIR     binaries, logs and state (default: .data/verify-k8s)
  --json         one JSON object on stdout instead of lines
  --keep         leave the control plane running afterwards, and say how to reach it
  --stop         end what an earlier run left running, and nothing else
  --build        build the binaries, and nothing else
  --verbose      show what is waited for
  --help         this text

Exit code: 0 all proofs hold, 1 one does not, 2 wrong use, 3 something that is needed is missing or did not start.
`;

export const PROOFS = ['overlays', 'placement', 'backlog', 'rollout'];

/** The options of a command line. @throws TypeError naming what is wrong */
export function optionsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: PROOFS.join(',') },
      k8s: { type: 'string', default: join(root, 'k8s') },
      data: { type: 'string', default: join(root, '.data/verify-k8s') },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      stop: { type: 'boolean', default: false },
      build: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const only = values.only.split(',').map((name) => name.trim());
  const unknown = only.filter((name) => !PROOFS.includes(name));
  if (unknown.length > 0)
    throw new TypeError(`no proof is called ${unknown.join(', ')}; there are ${PROOFS.join(', ')}`);
  return { ...values, only };
}
