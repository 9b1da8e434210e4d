import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack } from '../../apps/simulator/src/stack/stack';
import { turnStory } from '../stack';
import { chat, eventually } from './conversation';

/**
 * A turn whose message killed its judge service as often as it may: the service dies at work, comes back, and finds a message that was
 * delivered too often. The judge service that is left behind works.
 *
 * @returns the turn's id
 */
export async function deadLetteredTurn(stack: Stack): Promise<string> {
  let asked!: () => void;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const silent = createServer((request) => void request.resume().on('end', asked)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    await stack.kill('judge-svc');
    const { port } = silent.address() as AddressInfo;
    await stack.startAgain('judge-svc', { JUDGE_BASE_URL: `http://127.0.0.1:${port}/v1` });
    const question = { role: 'user', content: 'What is a galaxy?' } as const;
    const { turnId, message } = await chat(stack, [question]);
    await chat(stack, [question, message, { role: 'user', content: 'Please answer in plain prose, without lists.' }]);
    await isAsked;
    await stack.kill('judge-svc');
    await stack.startAgain('judge-svc', { MAX_DELIVERIES: '1' });
    await eventually(async () => (await turnStory(stack, turnId))['case'] === 'drop');
    return turnId;
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
}
