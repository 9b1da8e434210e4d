import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecoveryQuestion } from './recovery';
import { RecoveryThread } from './recovery-thread';

const question: RecoveryQuestion = {
  tokens: [],
  logProbs: null,
  message: {},
  endedByModel: true,
  countedTokens: 1,
  countedPromptTokens: 1,
  prompt: { messages: [], tools: null, templateArguments: {} },
};
const found = { responseIds: [1], hiddenTokens: 0, promptIds: [2] };

describe('RecoveryThread', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'hindcast-thread-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A thread that does what a script says with each question. */
  async function start(onQuestion: string, first = 'port.postMessage({ ready: 3 })') {
    const script = join(folder, 'worker.cjs');
    writeFileSync(
      script,
      `const port = require('node:worker_threads').parentPort;
       port.on('message', ({ number }) => { ${onQuestion} });
       ${first};`,
    );
    const ended: (string | null)[] = [];
    const { thread, tokens } = await RecoveryThread.start('any', (error) => ended.push(error?.message ?? null), script);
    return { thread, tokens, ended };
  }

  it('answers every question, in any order', async () => {
    const { thread, tokens } = await start(
      `setTimeout(() => port.postMessage({ number, result: { ...${JSON.stringify(found)}, responseIds: [number] } }), 5 / number)`,
    );
    expect(tokens).toBe(3);
    const results = await Promise.all([thread.ask(question), thread.ask(question), thread.ask(question)]);
    expect(results).toEqual([1, 2, 3].map((number) => ({ ...found, responseIds: [number] })));
    await thread.stop();
  });

  it('answers what waits, and says so, when the thread dies', async () => {
    const { thread, ended } = await start(`if (number === 2) throw new Error('out of memory')`);
    const refused = { reason: 'no-token-ids', detail: 'the recovery thread ended' };
    expect(await Promise.all([thread.ask(question), thread.ask(question)])).toEqual([refused, refused]);
    expect(ended).toEqual(['out of memory']);
    expect(await thread.ask(question)).toEqual(refused);
  });

  it('refuses more questions than it can hold', async () => {
    const { thread } = await start('');
    const waiting = Array.from({ length: 64 }, () => thread.ask(question));
    expect(await thread.ask(question)).toEqual({
      reason: 'no-token-ids',
      detail: '64 answers wait for their ids already',
    });
    await thread.stop();
    expect((await Promise.all(waiting)).every((result) => 'reason' in result)).toBe(true);
  });

  it('fails to start without a tokenizer', async () => {
    await expect(start('', `port.postMessage({ broken: 'no tokenizer.json' })`)).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'POLICY_TOKENIZER_DIR: no tokenizer.json',
    });
    await expect(start('', `throw new Error('no memory')`)).rejects.toThrow('no memory');
  });
});
