import { encodeLogProbs, type BodyOf, type Capture } from '@hindcast/contracts';
import { CONFIG, Log, WorkerSlots } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { TeacherConfig } from './config';
import { FaultCount } from './core/fault-count';
import { firstDifference, type ScoredIds } from './core/align-log-probs';
import { hintedMessages } from './core/hinted-messages';
import type { Scores } from './core/positions';
import { REPEAT_TOLERANCE_NATS, largestGap } from './core/repeatability';
import { recordedName, type TeacherModel } from './core/teacher-model';
import { TeacherRefusal } from './core/teacher-refusal';
import { EngineFault } from './engine-http';
import { ScoringModel } from './scoring-model';
import { ModelMissing, TeacherClient, type Tokenized } from './teacher-client';
import { TeacherEngines } from './teacher-engines';
import { TeacherMetrics } from './teacher-metrics';
import { TurnStore } from './turn-store';
import { Vocabulary } from './vocabulary';

type TeacherResult = BodyOf<'turnScored'>['teacher'];

interface Scored {
  readonly model: TeacherModel;
  readonly ids: ScoredIds;
  readonly scores: Scores;
}

/** log π_T of the very ids that the policy sampled, under the same conversation with the hint in it. */
@Injectable()
export class Teacher {
  private readonly slots: WorkerSlots;
  private readonly faults = new FaultCount();

  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly client: TeacherClient,
    private readonly engines: TeacherEngines,
    private readonly vocabulary: Vocabulary,
    private readonly model: ScoringModel,
    private readonly store: TurnStore,
    private readonly metrics: TeacherMetrics,
    private readonly log: Log,
  ) {
    this.slots = new WorkerSlots(config.TEACHER_CONCURRENCY);
  }

  /** @throws DependencyUnavailable while no engine, or the broker, answers */
  score(turnId: string, hint: string): Promise<TeacherResult> {
    return this.slots.run(async () => {
      const finish = this.metrics.startTurn();
      let result = 'waited';
      try {
        const teacher = await this.scoreNow(turnId, hint);
        result = teacher.ok ? 'ok' : teacher.reason;
        return teacher;
      } finally {
        finish(result);
      }
    });
  }

  private async scoreNow(turnId: string, hint: string): Promise<TeacherResult> {
    try {
      const capture = await this.store.capture(turnId);
      if (!capture) throw new TeacherRefusal('capture-missing', 'the capture is gone or unreadable');
      const wish = await this.model.wish();
      const { model, ids, scores } = await this.engines.use(
        (engine) => this.scoreOn(engine, wish.model, turnId, capture, hint),
        wish.holders,
      );
      this.faults.succeeded(turnId);
      this.metrics.scored(ids.promptLength, scores.logProbs, capture.rolloutLogProbs);
      const topK = scores.topK && (await this.store.putTopK(turnId, scores.topK));
      return { ok: true, model: recordedName(model), logProbs: encodeLogProbs(scores.logProbs), topK };
    } catch (error) {
      const refusal = this.refusalOf(turnId, error);
      if (!refusal) throw error;
      if (refusal instanceof ModelMissing) this.metrics.alarm('model-missing');
      const { reason, message } = refusal;
      return { ok: false, model: this.config.TEACHER_MODEL, reason, detail: message.slice(0, 1000) };
    }
  }

  /** An engine that answers 500 to one turn, again and again, while it scores others, is not away: it cannot do this one. */
  private refusalOf(turnId: string, error: unknown): TeacherRefusal | null {
    if (error instanceof TeacherRefusal) return error;
    if (!(error instanceof EngineFault) || !this.faults.isGivenUp(turnId)) return null;
    return new TeacherRefusal('refused-by-engine', `${error.message}, several times, while other turns were scored`);
  }

  private async scoreOn(
    engine: string,
    wished: TeacherModel,
    turnId: string,
    { header, promptIds, responseIds }: Capture,
    hint: string,
  ): Promise<Scored> {
    await this.vocabulary.require(engine);
    const [plain, hinted] = await Promise.all([
      this.client.tokenize(engine, wished, header.messages, header),
      this.client.tokenize(engine, wished, hintedMessages(header.messages, hint), header),
    ]);
    assertSamePrompt(plain, promptIds);
    assertFits(hinted, responseIds.length);
    const ids: ScoredIds = {
      ids: joined(hinted.ids, responseIds),
      promptLength: hinted.ids.length,
      topK: this.config.TEACHER_TOP_K,
    };
    const { model, scores } = await this.model.score(engine, wished, ids);
    if (this.isRechecked()) await this.recheck(engine, model, turnId, ids, scores.logProbs);
    return { model, ids, scores };
  }

  private isRechecked(): boolean {
    const { TEACHER_RECHECK_EVERY: every } = this.config;
    return every > 0 && this.faults.answered % every === 0;
  }

  /** Scores the same ids again: a teacher that does not repeat itself is wrong somewhere, and no single answer shows it. */
  private async recheck(
    engine: string,
    model: TeacherModel,
    turnId: string,
    ids: ScoredIds,
    logProbs: Float32Array,
  ): Promise<void> {
    let again: Scores;
    try {
      again = await this.client.score(engine, model, { ...ids, topK: 0 });
    } catch {
      // The turn has its teacher; whatever is wrong now shows with the next one.
      return;
    }
    const gap = largestGap(logProbs, again.logProbs);
    this.metrics.repeatGapNats.set(gap);
    if (gap <= REPEAT_TOLERANCE_NATS) return;
    this.metrics.alarm('not-repeatable');
    this.log.error('teacher.not-repeatable', { turnId, gapNats: gap });
  }
}

function joined(promptIds: Int32Array, responseIds: Int32Array): Int32Array {
  const ids = new Int32Array(promptIds.length + responseIds.length);
  ids.set(promptIds);
  ids.set(responseIds, promptIds.length);
  return ids;
}

/** A template that does not reproduce the captured prompt would put the hint into another prompt than the policy's. */
function assertSamePrompt({ ids }: Tokenized, promptIds: Int32Array): void {
  const difference = firstDifference(ids, promptIds);
  if (difference < 0) return;
  throw new TeacherRefusal(
    'template-mismatch',
    `the un-hinted prompt has ${ids.length} ids, captured were ${promptIds.length}; first difference at ${difference}`,
  );
}

/** Engines generate at least one token behind what they score, or keep a position for it. */
function assertFits({ ids, maxModelLength }: Tokenized, responseLength: number): void {
  if (maxModelLength === null || ids.length + responseLength + 1 <= maxModelLength) return;
  throw new TeacherRefusal(
    'too-long',
    `${ids.length} hinted prompt ids and ${responseLength} sampled ids do not fit ${maxModelLength} positions`,
  );
}
