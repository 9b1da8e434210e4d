import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDemo } from '../apps/simulator/src/run-demo';
import type { Stack } from '../apps/simulator/src/stack/stack';
import type { CollectedSpan } from '../libs/platform/src/testing/collected-spans';
import { TraceCollector } from '../libs/platform/src/testing/trace-collector';
import { manifests, type Manifest } from './manifests';
import { endTemporaryStack, startTemporaryStack, turnStory } from './stack';

const CHAT = 'POST /v1/chat/completions';

// All processes real, each with the exporter of OpenTelemetry's SDK; the file is what a collector's file exporter writes.
describe('the traces of a short demo', () => {
  let folder: string;
  let collector: TraceCollector;
  let spans: Spans;
  let turnId: string;
  let version: Manifest;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindcast-traces-'));
    collector = await TraceCollector.start(join(folder, 'traces.jsonl'));
    const stack = await startTemporaryStack({
      settings: {
        ACK_WAIT_SECONDS: '3',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      },
    });
    try {
      await runDemo(stack, { sessions: 6, persona: 'student', feedback: 'mixed', method: 'combine', seed: 1 }, 300_000);
      [turnId, version] = await taughtTurn(stack);
    } finally {
      // What is left is sent at the end.
      await endTemporaryStack(stack);
    }
    spans = new Spans(collector.spans());
  });
  afterAll(async () => {
    await collector.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('one turn has every hop from its request to the step that trained it, each below the one before', () => {
    const capture = spans.of(turnId, 'capture');
    const own = spans.in(capture.traceId);
    const ways = new Set(own.map((span) => spans.way(span)));
    const captured = `gateway ${CHAT} > gateway capture`;
    const pair = `${captured} > gateway pair > gateway publish rl.v1.turn.paired`;
    const judged = `${pair} > judge-svc process rl.v1.turn.paired`;
    const taught = `${judged} > judge-svc publish rl.v1.turn.judged.hinted > teacher-svc process rl.v1.turn.judged.hinted`;
    const scored = `${taught} > teacher-svc publish rl.v1.turn.scored > dispatcher process rl.v1.turn.scored`;
    const sample = `${scored} > dispatcher gate > dispatcher publish rl.v1.sample.ready > trainer process rl.v1.sample.ready`;
    for (const way of [
      `gateway ${CHAT}`,
      `gateway ${CHAT} > gateway POST > engine ${CHAT}`,
      captured,
      `${captured} > gateway publish rl.v1.turn.captured > dispatcher process rl.v1.turn.captured`,
      `${pair} > dispatcher process rl.v1.turn.paired`,
      `${judged} > judge-svc judge > judge-svc vote > judge-svc POST > demo-judge ${CHAT}`,
      `${taught} > teacher-svc score > teacher-svc POST > engine POST /tokenize`,
      `${taught} > teacher-svc score > teacher-svc POST > engine POST /v1/completions`,
      scored,
      `${scored} > dispatcher gate`,
      sample,
      `${sample} > trainer arrive > trainer trained`,
    ])
      expect(ways).toContain(way);
    // Nothing hangs in the air, and nothing failed.
    expect(own.filter((span) => span.parentSpanId === null).map(({ name }) => name)).toEqual([CHAT]);
    expect(own.filter((span) => spans.way(span).startsWith('?'))).toEqual([]);
    expect(own.filter(({ hasFailed }) => hasFailed)).toEqual([]);
  });

  it('says of each vote and of the decision what it came to', () => {
    const { traceId } = spans.of(turnId, 'capture');
    const votes = spans.in(traceId).filter(({ name }) => name === 'vote');
    const names = votes.map(({ attributes: a }) => `${a['hindcast.vote.kind']} ${a['hindcast.vote.ordinal']}`);
    expect(names.sort()).toEqual(['eval 0', 'eval 1', 'eval 2', 'hint 0', 'hint 1', 'hint 2']);
    for (const { attributes } of votes)
      expect(attributes['hindcast.vote.score'] ?? attributes['hindcast.vote.abstained']).toBeDefined();
    const gate = spans.of(turnId, 'gate').attributes;
    expect(['opdRl', 'opd']).toContain(gate['hindcast.case']);
  });

  it('the pairing is linked to the request that brought the next state', () => {
    const [link] = spans.of(turnId, 'pair').links;
    const next = spans.at(link!.spanId);
    expect(next).toMatchObject({ name: CHAT, kind: 'server', service: 'hindcast-gateway' });
    expect(next.traceId).not.toBe(spans.of(turnId, 'pair').traceId);
  });

  it('step and turn are found from either side', () => {
    const [link] = spans.of(turnId, 'trained').links;
    const step = spans.at(link!.spanId);
    expect(step).toMatchObject({ name: 'step', parentSpanId: null, service: 'hindcast-trainer' });
    expect(step.attributes['hindcast.policy.version']).toBe(version.version);
    const linked = step.links.map(({ spanId }) => spans.at(spanId).attributes['hindcast.turn.id']);
    expect(linked.sort()).toEqual([...version.turnIds].sort());
    const ways = new Set(spans.in(step.traceId).map((span) => spans.way(span)));
    const publication = 'trainer step > trainer publication';
    expect(ways).toContain(`${publication} > trainer POST > engine POST /v1/load_lora_adapter`);
    expect(ways).toContain(
      `${publication} > trainer publish rl.v1.policy.updated > dispatcher process rl.v1.policy.updated`,
    );
  });

  it('holds no text of a conversation', () => {
    const text = spans.all.map(({ attributes }) => JSON.stringify(attributes)).join('\n');
    expect(text).not.toMatch(/planet|\?|boxed/i);
  });
});

/** A trained turn that had a hint, and the version that it trained. */
async function taughtTurn(stack: Stack): Promise<[string, Manifest]> {
  for (const version of manifests(stack.policyDir))
    for (const id of version.turnIds)
      if (String((await turnStory(stack, id))['case']).startsWith('opd')) return [id, version];
  throw new Error('no turn with a hint was trained');
}

/** Collected spans with their families. */
class Spans {
  private readonly byId: ReadonlyMap<string, CollectedSpan>;

  constructor(readonly all: readonly CollectedSpan[]) {
    this.byId = new Map(all.map((span) => [span.spanId, span]));
  }

  in(traceId: string): CollectedSpan[] {
    return this.all.filter((span) => span.traceId === traceId);
  }

  at(spanId: string): CollectedSpan {
    return this.byId.get(spanId)!;
  }

  /** The one span of that name that is about a turn. */
  of(turnId: string, name: string): CollectedSpan {
    const found = this.all.filter((span) => span.name === name && span.attributes['hindcast.turn.id'] === turnId);
    expect(found).toHaveLength(1);
    return found[0]!;
  }

  /** Services and names from the root to this span; `?` where one of them is missing. */
  way({ service, name, parentSpanId }: CollectedSpan): string {
    const own = `${service.replace('hindcast-', '')} ${name}`;
    if (parentSpanId === null) return own;
    const parent = this.byId.get(parentSpanId);
    return `${parent ? this.way(parent) : '?'} > ${own}`;
  }
}
