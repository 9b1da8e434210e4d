import { EventEmitter } from 'node:events';
import { httpErrorOf } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';
import { clientSignal } from './event-stream';

it.each([
  { writableFinished: false, aborted: true },
  { writableFinished: true, aborted: false },
])(
  'a client whose connection closes, answered $writableFinished: aborted $aborted, and no failure of ours',
  (answer) => {
    const raw = Object.assign(new EventEmitter(), { writableFinished: answer.writableFinished });
    const signal = clientSignal({ raw } as unknown as FastifyReply);
    raw.emit('close');
    expect(signal.aborted).toBe(answer.aborted);
    if (answer.aborted) expect(httpErrorOf(signal.reason).status).toBe(499);
  },
);
