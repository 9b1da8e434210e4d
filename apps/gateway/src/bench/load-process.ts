// The client of the benchmark: so many requests at a time to one loopback address, a bounded number of them. Started with an IPC
// channel: takes a job, answers with the times.
import { Pool, type Dispatcher } from 'undici';
import { STAMP_DIGITS, STAMP_MARK } from './engine-bytes';
import { monotonicUs } from './monotonic';
import type { Sample } from './statistics';

export interface LoadJob {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly concurrency: number;
  readonly stream: boolean;
  readonly paced: boolean;
  readonly promptBytes: number;
  readonly requests: number;
  /** No request is begun after so long. */
  readonly maxMs: number;
}

export type LoadResult = Omit<Sample, 'cpuMs' | 'natsCpuMs' | 'clientCpuMs' | 'engineCpuMs'>;

const NUMBER_DIGITS = 16;
const SENTENCE =
  'The harvest report says "rain" 14 times — in Zürich, in Łódź and at sea; what follows from that for the price of wheat?\n';
const STAMP = new RegExp(`${STAMP_MARK}(\\d{${STAMP_DIGITS}})`, 'g');
const GIVEN_UP_MS = 30_000;

let asked = 0;

process.on('message', (job: LoadJob) => {
  void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));

async function run(job: LoadJob): Promise<LoadResult> {
  const pool = new Pool(job.origin, {
    connections: job.concurrency,
    pipelining: 1,
    headersTimeout: GIVEN_UP_MS,
    bodyTimeout: GIVEN_UP_MS,
  });
  await Promise.all(Array.from({ length: job.concurrency }, () => openConnection(pool)));
  const template = bodyTemplate(job);
  const times = { latencyMs: [] as number[], firstByteMs: [] as number[], tokenDelayMs: [] as number[] };
  let requests = 0;
  let failures = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (requests < job.requests && performance.now() - started < job.maxMs) {
      requests++;
      const answer = await ask(pool, job, numbered(template));
      if (!answer) {
        failures++;
        continue;
      }
      times.latencyMs.push(answer.latencyMs);
      times.firstByteMs.push(answer.firstByteMs);
      times.tokenDelayMs.push(...answer.tokenDelayMs);
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, worker));
  const wallMs = performance.now() - started;
  await pool.destroy();
  return { requests, failures, wallMs, ...times };
}

/** Connections are there before the clock starts: what they cost is the system's, and a lost handshake takes a second. */
async function openConnection(pool: Pool): Promise<void> {
  const response = await pool.request({ method: 'GET', path: '/healthz' });
  await response.body.dump();
}

/** The request with a place for its number: every conversation is one of its own. */
function bodyTemplate({ stream, promptBytes }: LoadJob): { bytes: Buffer; offset: number } {
  const place = '#'.repeat(NUMBER_DIGITS);
  const text = SENTENCE.repeat(Math.ceil(promptBytes / Buffer.byteLength(SENTENCE)));
  const content = Buffer.from(`Question ${place}. ${text}`).subarray(0, promptBytes).toString().replace(/�+$/, '');
  const messages = [
    { role: 'system', content: 'Answer in one paragraph.' },
    { role: 'user', content },
  ];
  const bytes = Buffer.from(JSON.stringify({ model: 'seed', messages, max_tokens: 64, ...(stream && { stream }) }));
  return { bytes, offset: bytes.indexOf(place) };
}

function numbered({ bytes, offset }: { bytes: Buffer; offset: number }): Buffer {
  const body = Buffer.from(bytes);
  body.write(`${process.pid}-${++asked}`.padStart(NUMBER_DIGITS, '0'), offset, 'latin1');
  return body;
}

interface Answer {
  readonly latencyMs: number;
  readonly firstByteMs: number;
  readonly tokenDelayMs: readonly number[];
}

/** `null` for anything but a whole answer. */
function ask(pool: Pool, job: LoadJob, body: Buffer): Promise<Answer | null> {
  return new Promise((resolve) => {
    const started = performance.now();
    const tokenDelayMs: number[] = [];
    let status = 0;
    let firstByteMs = 0;
    let last: Buffer = Buffer.alloc(0);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_, statusCode) => void (status = statusCode),
      onResponseData: (_, chunk) => {
        if (firstByteMs === 0) firstByteMs = performance.now() - started;
        last = chunk;
        if (job.paced) tokenDelayMs.push(...delays(chunk));
      },
      onResponseEnd: () => {
        const latencyMs = performance.now() - started;
        const isWhole = status === 200 && (job.stream ? last.includes('[DONE]') : last.at(-1) === CLOSING_BRACE);
        resolve(isWhole ? { latencyMs, firstByteMs, tokenDelayMs } : null);
      },
      onResponseError: () => resolve(null),
    };
    const headers = { 'content-type': 'application/json', ...job.headers };
    pool.dispatch({ method: 'POST', path: '/v1/chat/completions', headers, body }, handler);
  });
}

const CLOSING_BRACE = 0x7d;

function delays(chunk: Buffer): number[] {
  const now = monotonicUs();
  return Array.from(chunk.toString('latin1').matchAll(STAMP), ([, stamp]) => (now - Number(stamp)) / 1000);
}
