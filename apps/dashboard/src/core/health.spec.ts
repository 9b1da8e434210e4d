import { overviewFixture } from '../testing/overview-fixture';
import { healthRows, healthyEngines } from './health';

const overview = overviewFixture();

describe('the health of the parts', () => {
  it('puts what is wrong first, with what it is', () => {
    const rows = healthRows(overview);
    expect(rows.slice(0, 3).map(({ ok }) => ok)).toEqual([false, false, true]);
    expect(rows.find(({ name }) => name === 'judge-svc')?.detail).toContain('overloaded');
  });

  it('misses a service that is not on the bus, and the ledger', () => {
    const rows = healthRows({
      ...overview,
      services: overview.services.filter(({ app }) => app !== 'trainer'),
      ledger: null,
    });
    expect(rows.find(({ name }) => name === 'trainer')).toMatchObject({ ok: false, detail: 'not on the bus' });
    expect(rows.find(({ key }) => key === 'ledger')?.ok).toBe(false);
  });

  it('says what the broker outlives, and does not hide a word that it does not know', () => {
    const detail = (durability: string | null, ok = true) =>
      healthRows({ ...overview, broker: { ok, durability } }).find(({ key }) => key === 'broker')?.detail;
    expect(detail('power-loss')).toContain('power cut');
    expect(detail('new')).toBe('new');
    expect(detail(null)).toBeNull();
    expect(detail('power-loss', false)).toBe('does not answer');
  });

  it('counts no engine that fails its health check among those that hold a version', () => {
    const [up, down] = overview.engines.map(({ url }) => url);
    expect(healthyEngines([up!, down!], overview.engines)).toEqual([up]);
    expect(healthyEngines([up!, down!], [])).toEqual([up, down]);
  });

  it('tells replicas apart, and each has a key of its own', () => {
    const rows = healthRows(overview);
    expect(rows.filter(({ name }) => name.startsWith('gateway ')).length).toBe(2);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });
});
