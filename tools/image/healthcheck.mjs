// HEALTHCHECK of every image: 0 when /healthz answers 200. Needs nothing but Node.
import process from 'node:process';

const { HOST = '127.0.0.1', PORT } = process.env;
const everywhere = ['0.0.0.0', '::', ''];
const host = everywhere.includes(HOST) ? '127.0.0.1' : HOST;
try {
  const answer = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${PORT}/healthz`, {
    signal: globalThis.AbortSignal.timeout(4_000),
  });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
