import { costPerTurn, dayPlaces, daySeries, judgeTotals, type JudgeDay } from './judge-days';

const day = (name: string, more: Partial<JudgeDay> = {}): JudgeDay => ({
  day: name,
  turns: 10,
  votes: 60,
  abstained: 6,
  meanScore: 0.5,
  latencyP50Ms: 100,
  latencyP95Ms: 300,
  tokens: 1000,
  cost: null,
  ...more,
});

describe('the days of a range', () => {
  it('are in order, with the empty ones between them', () => {
    const places = dayPlaces([day('2026-03-01'), day('2026-02-27')]);
    expect(places.map((place) => [place.day, place.judged !== null])).toEqual([
      ['2026-02-27', true],
      ['2026-02-28', false],
      ['2026-03-01', true],
    ]);
    expect(daySeries(places, ({ meanScore }) => meanScore)).toEqual([0.5, null, 0.5]);
  });

  it('have a gap where nothing was judged', () => {
    const [empty, abstained] = dayPlaces([
      day('2026-03-01', { turns: 0, votes: 0 }),
      day('2026-03-02', { turns: 0, votes: 2 }),
    ]);
    expect([empty!.judged, abstained!.judged?.votes]).toEqual([null, 2]);
  });

  it('are none without a judgement', () => {
    expect(dayPlaces([])).toEqual([]);
  });
});

describe('cost', () => {
  it('per turn has no value without a price or a turn', () => {
    expect(costPerTurn(day('2026-03-01', { cost: 2 }))).toBe(0.2);
    expect(costPerTurn(day('2026-03-01', { cost: 0 }))).toBe(0);
    expect(costPerTurn(day('2026-03-01'))).toBeNull();
    expect(costPerTurn(day('2026-03-01', { cost: 0, turns: 0 }))).toBeNull();
  });

  it('of the range counts the days that have a price alone', () => {
    const days = [day('2026-03-01', { cost: 1 }), day('2026-03-02'), day('2026-03-03', { cost: 3, turns: 30 })];
    expect(judgeTotals(days)).toEqual({
      turns: 50,
      votes: 180,
      abstained: 18,
      tokens: 3000,
      cost: 4,
      costPerTurn: 0.1,
      costPerDay: 2,
      tokensPerTurn: 60,
    });
  });

  it('is unknown, not free, where nothing has a price', () => {
    expect(judgeTotals([day('2026-03-01')])).toMatchObject({ cost: null, costPerTurn: null, costPerDay: null });
    expect(judgeTotals([])).toMatchObject({ turns: 0, cost: null, tokensPerTurn: null });
  });
});
