import type { Log, Nats } from '@hindcast/platform';
import { AnnouncedTurns } from './announced-turns';
import type { KvAccess } from './kv-access';

/** Announced turns whose writes are confirmed when the test says so. */
function stage(): { turns: AnnouncedTurns; written: string[]; confirm: () => void } {
  const written: string[] = [];
  let confirm = (): void => undefined;
  const access: Pick<KvAccess, 'put' | 'whileConnected'> = {
    put: (_name, _key, value) => {
      written.push(value as string);
      return new Promise((resolve) => (confirm = () => resolve(1)));
    },
    whileConnected: (work) => work,
  };
  const nats: Pick<Nats, 'connected' | 'onConnected'> = { connected: true, onConnected: () => undefined };
  const turns = new AnnouncedTurns(access as KvAccess, nats as Nats, { warn: jest.fn() } as unknown as Log);
  return { turns, written, confirm: () => confirm() };
}

const announce = (turns: AnnouncedTurns): void => turns.announced(turns.opening());

it('writes down at the end what was announced while it was writing', async () => {
  const { turns, written, confirm } = stage();
  announce(turns);
  void turns.write();
  announce(turns);
  const last = turns.writeLast();
  confirm();
  await new Promise(setImmediate);
  confirm();
  await last;
  expect(written).toEqual(['1', '2']);
});
