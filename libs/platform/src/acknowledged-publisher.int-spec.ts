import { JetStreamApiError, PubHeaders, jetstreamManager } from '@nats-io/jetstream';
import { errors, type NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { AcknowledgedPublisher } from './acknowledged-publisher';
import { startNatsServer, type NatsServer } from './testing/nats-server';

const WRONG_LAST_SEQUENCE = 10071;

describe('AcknowledgedPublisher', () => {
  let nats: NatsServer;
  let connection: NatsConnection;
  let publisher: AcknowledgedPublisher;

  beforeAll(async () => {
    nats = await startNatsServer();
    connection = await connect({ servers: nats.url });
    publisher = new AcknowledgedPublisher(connection);
    await (await jetstreamManager(connection)).streams.add({ name: 'S', subjects: ['s.*'] });
  });
  afterAll(async () => {
    await connection.close();
    await nats.stop();
  });

  it('tells where each message was stored, however many go at once', async () => {
    const stored = await Promise.all(Array.from({ length: 200 }, (_, i) => publisher.publish('s.many', `${i}`)));
    expect(stored.map(({ stream }) => stream)).toEqual(Array(200).fill('S'));
    const first = stored[0]!.seq;
    expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, i) => first + i));
    const manager = await jetstreamManager(connection);
    expect((await manager.streams.getMessage('S', { seq: first + 17 }))!.string()).toBe('17');
  });

  it('a message of an id that is stored counts as stored', async () => {
    const send = (): ReturnType<typeof publisher.publish> =>
      publisher.publish('s.id', 'x', { [PubHeaders.MsgIdHdr]: 'one' });
    const first = await send();
    expect(await send()).toMatchObject({ seq: first.seq, duplicate: true });
  });

  it('is refused on another revision', async () => {
    const send = (previous: number): ReturnType<typeof publisher.publish> =>
      publisher.publish('s.cas', 'x', { [PubHeaders.ExpectedLastSubjectSequenceHdr]: String(previous) });
    const { seq } = await send(0);
    const refused = await send(0).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JetStreamApiError);
    expect((refused as JetStreamApiError).code).toBe(WRONG_LAST_SEQUENCE);
    expect((await send(seq)).seq).toBeGreaterThan(seq);
  });

  it('says that no stream stores the subject, and goes on', async () => {
    const sent = [publisher.publish('nobody.listens', 'x'), publisher.publish('s.on', 'y')] as const;
    await expect(sent[0]).rejects.toBeInstanceOf(errors.NoRespondersError);
    expect((await sent[1]).stream).toBe('S');
  });

  it('refuses what the server does not take, and what comes after the connection is closed', async () => {
    await expect(publisher.publish('s.large', new Uint8Array(9 * 1024 * 1024))).rejects.toThrow(/max_payload/);
    const own = await connect({ servers: nats.url });
    const other = new AcknowledgedPublisher(own);
    const waiting = other.publish('s.last', 'x');
    await own.close();
    await expect(waiting).rejects.toBeInstanceOf(errors.ClosedConnectionError);
    await expect(other.publish('s.last', 'x')).rejects.toBeInstanceOf(errors.ClosedConnectionError);
  });
});
