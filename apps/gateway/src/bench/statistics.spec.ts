import { CELLS, cellName, chosenCells } from './cells';
import { framed, streamTemplates, wholeTemplate } from './engine-bytes';
import { ratios, table, type Row } from './report';
import { measured, median, percentile, type Sample } from './statistics';

const sample = (latencyMs: readonly number[], overrides: Partial<Sample> = {}): Sample => ({
  requests: latencyMs.length,
  failures: 0,
  wallMs: 1_000,
  latencyMs,
  firstByteMs: latencyMs.map((ms) => ms / 2),
  tokenDelayMs: [],
  cpuMs: 10 * latencyMs.length,
  natsCpuMs: null,
  clientCpuMs: null,
  engineCpuMs: null,
  ...overrides,
});

describe('percentile', () => {
  it.each([
    { values: [], share: 0.5, is: null, why: 'nothing has none' },
    { values: [7], share: 0.99, is: 7, why: 'one value is all of them' },
    { values: [4, 1, 3, 2], share: 0.5, is: 2, why: 'nearest rank, not between two' },
    { values: Array.from({ length: 100 }, (_, i) => i + 1), share: 0.99, is: 99, why: 'a hundred values' },
    { values: [1, 10, 9], share: 1, is: 10, why: 'numbers are sorted as numbers' },
  ])('$why', ({ values, share, is }) => expect(percentile(values, share)).toBe(is));
});

describe('median', () => {
  it.each([
    { values: [], is: null, why: 'nothing has none' },
    { values: [null, null], is: null, why: 'a missing number is no zero' },
    { values: [3, null, 1], is: 2, why: 'of the values that are there' },
    { values: [1, 100, 2], is: 2, why: 'one round that went wrong does not count' },
  ])('$why', ({ values, is }) => expect(median(values)).toBe(is));
});

describe('measured', () => {
  it('what is added is taken inside a round, before the median', () => {
    const rounds = [sample([2, 2]), sample([12, 12]), sample([5, 5])];
    const direct = [sample([1, 1]), sample([10, 10]), sample([1, 1])];
    // 1, 2 and 4; the difference of the medians would be 4.
    expect(measured(rounds, direct).addedMs).toEqual({ p50: 2, p95: 2, p99: 2 });
    expect(measured(rounds, direct).firstByteAddedMs).toEqual({ p50: 1, p99: 1 });
  });

  it('a number that is missing is null', () => {
    const alone = measured([sample([2, 2], { cpuMs: null })], []);
    expect(alone.addedMs).toEqual({ p50: null, p95: null, p99: null });
    expect(alone.cpuMsPerRequest).toBeNull();
    expect(alone.perTokenDelayMs).toBeNull();
    expect(measured([sample([], { failures: 3, requests: 3 })], []).latencyMs.p50).toBeNull();
  });

  it('counts answers, not attempts, and every failure', () => {
    const rounds = [sample([1, 1], { requests: 4, failures: 2 }), sample([1, 1, 1])];
    expect(measured(rounds, [])).toMatchObject({ requestsPerSecond: 2.5, failures: 2 });
  });
});

describe('cells', () => {
  it('are the fifteen of the comparison, each with a name of its own', () => {
    expect(new Set(CELLS.map(cellName)).size).toBe(15);
  });

  it.each([
    { patterns: ['c16'], count: 5, why: 'a part' },
    { patterns: ['c64/stream/1kB'], count: 1, why: 'a whole name' },
    { patterns: ['paced', 'c1/whole'], count: 5, why: 'any of the patterns' },
    { patterns: ['c2'], count: 0, why: 'no such cell' },
  ])('by $why', ({ patterns, count }) => expect(chosenCells(patterns)).toHaveLength(count));
});

describe('the engine’s bytes', () => {
  const asked = { promptTokens: 8, ids: true, logProbs: true, usage: true, stamped: false };

  it('are chunks of a chat completion with ids and log-probs of 64 tokens', () => {
    const events = streamTemplates(asked).map(({ bytes }) => bytes.toString());
    expect(events).toHaveLength(1 + 64 + 2);
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);
    expect(chunks[0]!.prompt_token_ids).toHaveLength(8);
    expect(chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toHaveLength(64);
    expect(chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])).toHaveLength(64);
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop');
    expect(chunks.at(-1)!.usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 64 });
  });

  it('have their places where the id stands', () => {
    for (const { bytes, idOffsets } of [framed(streamTemplates(asked)), wholeTemplate(asked)]) {
      expect(idOffsets.length).toBeGreaterThan(0);
      for (const offset of idOffsets) expect(bytes.toString('latin1', offset - 9, offset)).toBe('chatcmpl-');
    }
  });

  it('hold none of it when nobody asked', () => {
    const plain = streamTemplates({ ...asked, ids: false, logProbs: false, usage: false });
    expect(Buffer.concat(plain.map(({ bytes }) => bytes)).toString()).not.toMatch(/token_ids|usage|"logprob"/);
  });
});

interface Chunk {
  readonly prompt_token_ids?: number[];
  readonly usage?: object;
  readonly choices: {
    readonly token_ids: number[] | null;
    readonly logprobs: { readonly content: object[] } | null;
    readonly finish_reason: string | null;
  }[];
}

describe('the report', () => {
  const row = (target: Row['target'], latency: number): Row => ({
    target,
    ...CELLS[0]!,
    ...measured([sample([latency, latency])], [sample([1, 1])]),
  });
  const rows = [row('direct', 1), row('hindcast', 2), row('portkey', 3)];

  it('divides what can be divided', () => {
    expect(ratios(rows)).toEqual([{ cell: 'c1/whole/1kB', requestsPerSecond: 1, cpuMsPerRequest: 1 }]);
    expect(ratios(rows.slice(0, 2))).toEqual([]);
  });

  it('is one line for each row, columns aligned', () => {
    const lines = table(rows).split('\n');
    expect(lines).toHaveLength(4);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  });
});
