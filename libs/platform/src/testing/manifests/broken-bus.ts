import { find, trigger, type BrokenManifests } from './broken-by';
import type { Manifest } from './parts';

export const busTwins: readonly BrokenManifests[] = [
  ...(
    [
      ['rl.v1.turn.pared', 'no contract has the subject rl.v1.turn.pared'],
      ['judge-svc--rl-v1-turn-pared', 'no service has the consumer judge-svc--rl-v1-turn-pared'],
      ['x{stream_name="RLS"}', 'there is no stream RLS'],
      ['$JS.API.STREAM.INFO.RLS', 'there is no stream RLS'],
      ['$KV.capture.>', 'there is no bucket capture'],
      ['KV_capture', 'there is no bucket capture'],
    ] as const
  ).map(([text, says]) => ({
    why: text,
    rule: 'bus-names',
    object: 'ConfigMap/gateway',
    says,
    change: (objects: Manifest[]) => (find(objects, 'ConfigMap', 'gateway').metadata.annotations = { note: text }),
  })),
  {
    why: 'a consumer of another service',
    rule: 'scaling-names',
    object: 'ScaledObject/judge-svc',
    says: 'scales judge-svc on the backlog of teacher-svc',
    change: (objects) => (trigger(objects).consumer = 'teacher-svc--rl-v1-turn-judged-hinted'),
  },
  {
    why: 'another stream than the consumer reads',
    rule: 'scaling-names',
    object: 'ScaledObject/judge-svc',
    says: 'reads the stream RL, not RL_DEAD',
    change: (objects) => (trigger(objects).stream = 'RL_DEAD'),
  },
  {
    why: 'a trigger without a stream',
    rule: 'scaling-names',
    object: 'ScaledObject/judge-svc',
    says: 'names no consumer or no stream',
    change: (objects) => delete trigger(objects).stream,
  },
  {
    why: 'an external metric of another service',
    rule: 'scaling-names',
    object: 'HorizontalPodAutoscaler/gateway',
    says: 'scales gateway on the backlog of judge-svc',
    change: (objects) =>
      (find(objects, 'HorizontalPodAutoscaler', 'gateway').spec.metrics = [
        {
          type: 'External',
          external: {
            metric: {
              name: 'hindcast_consumer_lag',
              selector: { matchLabels: { durable: 'judge-svc--rl-v1-turn-paired' } },
            },
            target: { type: 'AverageValue', averageValue: '20' },
          },
        },
      ]),
  },
];
