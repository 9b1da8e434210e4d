import { TeacherFailure } from '@hindcast/contracts';
import { Metrics } from '@hindcast/platform';
import { Injectable } from '@nestjs/common';

const ALARMS = ['not-repeatable', 'adapter-missing', 'model-missing'] as const;
/** What needs a person. */
export type Alarm = (typeof ALARMS)[number];

/** Numbers of the scored turns. */
@Injectable()
export class TeacherMetrics {
  readonly repeatGapNats;
  readonly alarms;
  private readonly turns;
  private readonly seconds;
  private readonly promptTokens;
  private readonly responseTokens;
  private readonly gapNats;

  constructor(metrics: Metrics) {
    this.repeatGapNats = metrics.gauge(
      'teacher_repeat_gap_nats',
      'Largest difference of the last turn that was scored twice',
    );
    // No number before there is one: 0 would say that the teacher repeats itself exactly.
    this.repeatGapNats.remove();
    this.alarms = metrics.counter<'kind'>('teacher_alarms_total', 'What needs a person', ['kind']);
    this.turns = metrics.counter('teacher_turns_total', 'Hinted turns by result: ok, or why there is no teacher', [
      'result',
    ]);
    // Known beforehand, so that the first of a kind already is an increase.
    for (const kind of ALARMS) this.alarms.inc({ kind }, 0);
    for (const result of ['ok', 'waited', ...TeacherFailure.options]) this.turns.inc({ result }, 0);
    this.seconds = metrics.histogram(
      'teacher_seconds',
      'From the free slot to the result, seconds',
      [],
      [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100],
    );
    const tokens = metrics.counter('teacher_tokens_total', 'Tokens read (prompt) and scored (response)', ['kind']);
    this.promptTokens = tokens.labels({ kind: 'prompt' });
    this.responseTokens = tokens.labels({ kind: 'response' });
    this.gapNats = metrics.histogram(
      'teacher_gap_nats',
      'Mean over a turn’s tokens of log π_T − log π_rollout: what the hint makes of the answer',
      [],
      [-4, -2, -1, -0.5, -0.2, -0.1, 0, 0.1, 0.2, 0.5, 1, 2],
    );
  }

  alarm(kind: Alarm): void {
    this.alarms.inc({ kind });
  }

  startTurn(): (result: string) => void {
    const stop = this.seconds.startTimer();
    return (result) => {
      stop();
      this.turns.inc({ result });
    };
  }

  scored(promptTokens: number, logProbs: Float32Array, rolloutLogProbs: Float32Array): void {
    this.promptTokens.inc(promptTokens);
    this.responseTokens.inc(logProbs.length);
    let sum = 0;
    for (let t = 0; t < logProbs.length; t++) sum += logProbs[t]! - rolloutLogProbs[t]!;
    this.gapNats.observe(sum / logProbs.length);
  }
}
