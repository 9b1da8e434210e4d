import { DependencyUnavailable, decodeCapture, encodeLogProbs, type BodyOf, type Capture } from '@hindcast/contracts';
import { Buckets, CONFIG, WorkerSlots } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { TeacherConfig } from './config';
import { firstDifference } from './core/align-log-probs';
import { hintedMessages } from './core/hinted-messages';
import { EngineRefusal, TeacherClient } from './teacher-client';

type TeacherResult = BodyOf<'turnScored'>['teacher'];
type Failure = Extract<TeacherResult, { ok: false }>['reason'];

/** log π_T of the very ids that the policy sampled, under the same conversation with the hint in it. */
@Injectable()
export class Teacher {
  private readonly slots: WorkerSlots;

  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly client: TeacherClient,
    private readonly buckets: Buckets,
  ) {
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
      return { ok: true, model: this.config.TEACHER_MODEL, logProbs: encodeLogProbs(alignment.logProbs) };
    } catch (error) {
      if (error instanceof EngineRefusal) return this.refuse('refused-by-engine', error.message);
      throw error;
    }
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
