import { ContractViolation, DependencyUnavailable } from '@hindcast/contracts';
import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';
import { isOutage } from './outage';

const tooLarge = errors.InvalidArgumentError.format('payload', 'max_payload size exceeded');
const apiError = (code: number, err_code: number): Error =>
  new JetStreamApiError({ code, err_code, description: 'from the server' });

describe('isOutage', () => {
  it.each<{ why: string; error: unknown; expected: boolean }>([
    { why: 'NATS is away', error: new DependencyUnavailable('nats', 'disconnected'), expected: true },
    { why: 'NATS does not answer', error: new errors.TimeoutError(), expected: true },
    { why: 'the disk of the server is full', error: apiError(503, 10077), expected: true },
    { why: 'an error nobody knows', error: new Error('?'), expected: true },
    { why: 'larger than the client sends', error: tooLarge, expected: false },
    { why: 'larger than the stream takes', error: apiError(400, 10054), expected: false },
    { why: 'breaks its contract', error: new ContractViolation('s', 'm'), expected: false },
    { why: 'a fault in the operation', error: new TypeError('no such field'), expected: false },
    {
      why: 'the cause decides',
      error: new DependencyUnavailable('nats', 'not stored', undefined, { cause: tooLarge }),
      expected: false,
    },
    { why: 'no error at all', error: 'text', expected: false },
  ])('$why: $expected', ({ error, expected }) => {
    expect(isOutage(error)).toBe(expected);
  });
});
