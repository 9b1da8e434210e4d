import { contracts, durableName } from '@hindcast/contracts';
import { emptyOverviewFixture, overviewFixture } from '../testing/overview-fixture';
import { healthRows } from './health';
import { loopArrows, nodeHealth } from './loop';

const overview = overviewFixture();

describe('the arrows of the loop', () => {
  it('tell what went over them and what waits', () => {
    const arrows = loopArrows(overview.ledger);
    expect(arrows.find(({ from, to }) => from === 'gateway' && to === 'judge')).toMatchObject({
      count: 1_012,
      waiting: 13,
    });
    expect(arrows.find(({ from, to }) => from === 'gate' && to === 'trainer')).toMatchObject({
      count: 750,
      waiting: 11,
    });
    expect(arrows.find(({ to }) => to === 'gateway')).toMatchObject({ count: 1_284, waiting: 48 });
  });

  it('know nothing while the ledger is away, which is not zero', () => {
    for (const { count, waiting } of loopArrows(null)) expect([count, waiting]).toEqual([null, null]);
    for (const { count } of loopArrows(emptyOverviewFixture().ledger)) expect(count).toBe(0);
  });

  it('ask for consumers that exist', () => {
    const durables = Object.values(contracts).flatMap((contract) =>
      contract.handlers.map((handler) => durableName(handler, contract.subject)),
    );
    const pending = Object.fromEntries(durables.map((name) => [name, 1]));
    const arrows = loopArrows({ ...overview.ledger!, pending });
    for (const { from, to, waiting } of arrows) expect(waiting === null).toBe(from === 'trainer' && to === 'engines');
  });
});

describe('the health of a node', () => {
  it('is that of all its processes', () => {
    expect(nodeHealth('gateway', overview)).toEqual({ ok: true, text: '2 of 2 ok' });
    expect(nodeHealth('judge', overview)).toEqual({ ok: false, text: 'wrong' });
    expect(nodeHealth('engines', overview)).toEqual({ ok: false, text: '1 of 2 ok' });
  });

  it('is the verdict of the table of health: ready is not well while a check fails', () => {
    const services = overview.services.map((service) => ({
      ...service,
      checks: [{ name: 'engine gpu-1:8000', ok: false, detail: 'fails its health check' }],
    }));
    const rows = healthRows({ ...overview, services });
    expect(rows.filter(({ name }) => name.startsWith('gateway ')).map(({ ok }) => ok)).toEqual([false, false]);
    expect(nodeHealth('gateway', { ...overview, services })).toEqual({ ok: false, text: '0 of 2 ok' });
    expect(nodeHealth('gate', { ...overview, services })).toEqual({ ok: false, text: 'wrong' });
  });

  it('is bad where nobody answers', () =>
    expect(nodeHealth('trainer', { ...overview, services: [] })).toEqual({ ok: false, text: 'not on the bus' }));
});
