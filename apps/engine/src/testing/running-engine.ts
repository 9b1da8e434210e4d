import { parseConfig, startService, type RunningService } from '@hindcast/platform';
import { EngineModule } from '../app.module';
import { loadBaseModel } from '../base-model';
import { EngineConfig } from '../config';
import { ServedModels } from '../served-models';
import { SEED_DIR } from './models';

export interface RunningEngine {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly models: ServedModels;
  close(): Promise<void>;
}

/** A real engine on a free port, in this process. */
export async function startEngine(env: Record<string, string> = {}): Promise<RunningEngine> {
  const config = parseConfig('engine', EngineConfig, {
    PORT: '0',
    MODEL_DIR: SEED_DIR,
    LOG_LEVEL: 'silent',
    ...env,
  });
  const service: RunningService = await startService({
    app: 'engine',
    bus: false,
    config,
    module: EngineModule,
    prepare: (app) => loadBaseModel(app.get(ServedModels), config.MODEL_DIR),
    announce: () => undefined,
  });
  return {
    url: `http://127.0.0.1:${service.port}`,
    models: service.app.get(ServedModels),
    close: () => service.close(),
  };
}

/** Posts JSON; the status and the parsed body (text where it is no JSON). */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads any field of any answer
export async function post(url: string, body: unknown): Promise<{ status: number; body: any }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: text };
  }
}

/** Posts JSON and reads the server-sent events; the last, `[DONE]`, is checked and left out. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads any field of any event
export async function postStream(url: string, body: object): Promise<any[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  if (response.headers.get('content-type') !== 'text/event-stream; charset=utf-8')
    throw new Error(`${response.status} ${await response.text()}`);
  const events = (await response.text()).split('\n\n').filter((event) => event !== '');
  if (events.pop() !== 'data: [DONE]') throw new Error('the stream does not end with [DONE]');
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')));
}
