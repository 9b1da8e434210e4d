import { DependencyUnavailable, decodeCapture, encodeLogProbs, type BodyOf, type Capture } from '@hindcast/contracts';
import { Buckets, CONFIG, Log, Metrics, WorkerSlots } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { TeacherConfig } from './config';
import { firstDifference } from './core/align-log-probs';
import { hintedMessages } from './core/hinted-messages';
import { REPEAT_TOLERANCE_NATS, largestGap } from './core/repeatability';
import { EngineRefusal, TeacherClient } from './teacher-client';

type TeacherResult = BodyOf<'turnScored'>['teacher'];
type Failure = Extract<TeacherResult, { ok: false }>['reason'];

/** log π_T of the very ids that the policy sampled, under the same conversation with the hint in it. */
@Injectable()
export class Teacher {
  private readonly slots: WorkerSlots;
  private readonly gapNats;
  private readonly alarms;
  private scored = 0;

  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly client: TeacherClient,
    private readonly buckets: Buckets,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.gapNats = metrics.gauge(
      'teacher_repeat_gap_nats',
      'Largest difference of the last turn that was scored twice',
    );
    this.alarms = metrics.counter('teacher_alarms_total', 'What needs a person', ['kind']);
    this.slots = new WorkerSlots(config.TEACHER_CONCURRENCY);
  }

  score(turnId: string, hint: string): Promise<TeacherResult> {
    return this.slots.run(() => this.scoreNow(turnId, hint));
  }

  private async scoreNow(turnId: string, hint: string): Promise<TeacherResult> {
    const capture = await this.captureOf(turnId);
    if (!capture) return this.refuse('capture-missing', 'the capture is gone or unreadable');
    const { header, promptIds, responseIds } = capture;
    try {
      // A template that does not reproduce the captured prompt would put the hint into another prompt than the policy's.
      const plainIds = await this.client.tokenize(header.messages, header);
      const difference = firstDifference(plainIds, promptIds);
      if (difference >= 0) {
        return this.refuse(
          'template-mismatch',
          `the un-hinted prompt has ${plainIds.length} ids, captured were ${promptIds.length}; first difference at ${difference}`,
        );
      }
      const hintedIds = await this.client.tokenize(hintedMessages(header.messages, hint), header);
      const alignment = await this.client.score(hintedIds, responseIds);
      if (!alignment.ok) return this.refuse(alignment.reason, alignment.detail);
      if (this.isRechecked()) await this.recheck(turnId, hintedIds, responseIds, alignment.logProbs);
      return { ok: true, model: this.config.TEACHER_MODEL, logProbs: encodeLogProbs(alignment.logProbs), topK: null };
    } catch (error) {
      if (error instanceof EngineRefusal) return this.refuse('refused-by-engine', error.message);
      throw error;
    }
  }

  private isRechecked(): boolean {
    const { TEACHER_RECHECK_EVERY: every } = this.config;
    return every > 0 && this.scored++ % every === 0;
  }

  /** Scores the same ids again: a teacher that does not repeat itself is wrong somewhere, and no single answer shows it. */
  private async recheck(
    turnId: string,
    hintedIds: readonly number[],
    responseIds: Int32Array,
    logProbs: Float32Array,
  ): Promise<void> {
    const again = await this.client.score(hintedIds, responseIds);
    if (!again.ok) return;
    const gap = largestGap(logProbs, again.logProbs);
    this.gapNats.set(gap);
    if (gap <= REPEAT_TOLERANCE_NATS) return;
    this.alarms.inc({ kind: 'not-repeatable' });
    this.log.error('teacher.not-repeatable', { turnId, gapNats: gap });
  }

  private async captureOf(turnId: string): Promise<Capture | null> {
    let value: Uint8Array | undefined;
    try {
      const entry = await (await this.buckets.open('captures')).get(turnId);
      if (entry?.operation === 'PUT') value = entry.value;
    } catch (cause) {
      throw new DependencyUnavailable('nats', 'the captures bucket cannot be read', 1_000, { cause });
    }
    try {
      return value ? decodeCapture(value) : null;
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  private refuse(reason: Failure, detail: string): TeacherResult {
    return { ok: false, model: this.config.TEACHER_MODEL, reason, detail: detail.slice(0, 1000) };
  }
}
