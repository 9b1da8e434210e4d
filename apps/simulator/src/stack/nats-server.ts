import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '../config';
import { Child } from './child';

const CONFIG = (port: number, folder: string): string => `host: "127.0.0.1"
port: ${port}
ports_file_dir: ${JSON.stringify(join(folder, 'ports'))}
max_payload: 8388608
jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))} }
`;

/** A nats-server with JetStream on loopback. Port 0 takes any free one. */
export async function startNatsServer(
  binary: string,
  folder: string,
  port: number,
  logFile: string,
): Promise<{ readonly child: Child; readonly url: string; readonly configFile: string }> {
  rmSync(join(folder, 'ports'), { recursive: true, force: true });
  mkdirSync(join(folder, 'ports'), { recursive: true });
  const configFile = join(folder, 'nats.conf');
  writeFileSync(configFile, CONFIG(port === 0 ? -1 : port, folder));
  const child = Child.start('nats-server', binary, ['-c', configFile], { cwd: folder, env: environment, logFile });
  for (;;) {
    if (child.ending) throw new Error(`nats-server ended at once; see ${logFile}`);
    const [file] = existsSync(join(folder, 'ports')) ? readdirSync(join(folder, 'ports')) : [];
    const url = file === undefined ? undefined : urlIn(readFileSync(join(folder, 'ports', file), 'utf8'));
    if (url !== undefined) {
      // The file names the port from now on, so that the server can be started again by hand where the services look for it.
      writeFileSync(configFile, CONFIG(Number(new URL(url).port), folder));
      return { child, url, configFile };
    }
    await sleep(50);
  }
}

/** nats-server writes its ports file in one go, but not atomically. */
function urlIn(portsFile: string): string | undefined {
  try {
    return (JSON.parse(portsFile) as { nats?: string[] }).nats?.[0];
  } catch {
    return undefined;
  }
}
