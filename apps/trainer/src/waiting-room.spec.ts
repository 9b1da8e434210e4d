import { trainingSample } from './testing/fixtures';
import { WaitingRoom } from './waiting-room';

const refusal = { reason: 'stale', detail: 'sampled by version 0' } as const;

describe('WaitingRoom', () => {
  it('tells a sample that is delivered again that it was refused, and forgets what was refused long ago', async () => {
    const room = new WaitingRoom();
    const samples = Array.from({ length: 4097 }, () => trainingSample());
    for (const { turnId } of samples) room.refused(turnId, refusal);
    expect(await room.outcomeOf(samples.at(-1)!, 1)).toEqual({ kind: 'refused', refusal });
    void room.outcomeOf(samples[0]!, 1);
    expect(room.all().map(({ sample }) => sample.turnId)).toEqual([samples[0]!.turnId]);
  });
});
