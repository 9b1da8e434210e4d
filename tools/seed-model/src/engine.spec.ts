import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine } from './engine';
import { probeSets } from './evaluation';

// Answers like the engine: "<number of the request's seed> done" with one id for each word and the end mark.
const standIn = `
const server = require('node:http').createServer(async (request, response) => {
  const { seed, messages, max_tokens } = JSON.parse(Buffer.concat(await request.toArray()));
  if (seed === 666) { response.writeHead(500).end('broken'); return; }
  const isCut = seed % 2 === 1;
  const token_ids = isCut ? Array(max_tokens).fill(9) : [7, 8, 4];
  const choice = { message: { content: process.env.MODEL_DIR + ' ' + seed + ' ' + messages.at(-1).content }, finish_reason: isCut ? 'length' : 'stop', token_ids };
  setTimeout(() => response.end(JSON.stringify({ choices: [choice] })), 5 * (10 - (seed % 10)));
});
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ event: 'starting' }));
  console.log(JSON.stringify({ event: 'ready', port: server.address().port }));
});
`;

describe('Engine', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hindcast-engine-'));
    await writeFile(join(dir, 'engine.cjs'), standIn);
    await writeFile(join(dir, 'broken.cjs'), 'process.exit(3)');
  });
  afterAll(() => rm(dir, { recursive: true }));
  const [set] = probeSets(1, 60);
  const probes = set?.probes ?? [];

  it('answers every probe in order, and does not count the mark that ends an answer', async () => {
    const engine = await Engine.start(join(dir, 'engine.cjs'), 'some-model');
    try {
      let answered = 0;
      const replies = await engine.replies(probes, 100, () => (answered += 1));
      expect(answered).toBe(60);
      replies.forEach((reply, index) => {
        const isCut = index % 2 === 1;
        const text = `some-model ${100 + index} ${probes[index]?.messages.at(-1)?.content}`;
        expect(reply).toEqual({ text, tokens: isCut ? 120 : 2, ended: !isCut });
      });
      await expect(engine.replies(probes.slice(0, 1), 666, () => undefined)).rejects.toThrow('500: broken');
    } finally {
      await engine.stop();
    }
  });

  it('says when the engine cannot start', async () => {
    await expect(Engine.start(join(dir, 'broken.cjs'), 'some-model')).rejects.toThrow('before it was ready');
  });
});
