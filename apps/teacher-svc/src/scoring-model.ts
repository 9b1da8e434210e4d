import { CONFIG, Log } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { TeacherConfig } from './config';
import type { ScoredIds } from './core/align-log-probs';
import type { Scores } from './core/positions';
import { CURRENT, lists, modelOf, recordedName, substitute, type TeacherModel } from './core/teacher-model';
import { TeacherRefusal } from './core/teacher-refusal';
import { CurrentPolicyWatch } from './current-policy';
import { ModelMissing, TeacherClient } from './teacher-client';
import { TeacherMetrics } from './teacher-metrics';

/** What a turn would like to be scored with, and the engines that are known to have it. */
export interface Wish {
  readonly model: TeacherModel;
  readonly holders: ReadonlySet<string>;
}

/** Decides which weights score: a fixed model, or the version that serves. */
@Injectable()
export class ScoringModel {
  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly client: TeacherClient,
    private readonly current: CurrentPolicyWatch,
    private readonly metrics: TeacherMetrics,
    private readonly log: Log,
  ) {}

  async wish(): Promise<Wish> {
    const { TEACHER_MODEL: model, POLICY_MODEL } = this.config;
    if (model !== CURRENT) return { model: { base: model, adapter: null }, holders: new Set() };
    const policy = await this.current.known();
    return {
      model: modelOf(POLICY_MODEL, policy),
      holders: new Set(policy.engines.map((url) => url.replace(/\/+$/, ''))),
    };
  }

  /**
   * Scores with the wished model. An engine that lacks the version, as after its restart, scores with its newest one, or with the base
   * model: a teacher a step behind teaches nearly the same, and what scored is recorded.
   */
  async score(
    engine: string,
    wished: TeacherModel,
    ids: ScoredIds,
  ): Promise<{ readonly model: TeacherModel; readonly scores: Scores }> {
    try {
      return { model: wished, scores: await this.client.score(engine, wished, ids) };
    } catch (error) {
      if (!(error instanceof TeacherRefusal)) throw error;
      const model = await this.insteadOf(engine, wished, error);
      if (!model) throw error;
      this.metrics.alarm('adapter-missing');
      this.log.warn('teacher.adapter-missing', {
        engine,
        missing: recordedName(wished),
        scoring: recordedName(model),
      });
      return { model, scores: await this.client.score(engine, model, ids) };
    }
  }

  /** vLLM answers 404 for an adapter that it does not know; SGLang 400, as for any bad request, so its list decides. */
  private async insteadOf(engine: string, wished: TeacherModel, error: TeacherRefusal): Promise<TeacherModel | null> {
    if (wished.adapter === null) return null;
    const mayLackIt =
      error instanceof ModelMissing ||
      (this.config.TEACHER_DIALECT === 'sglang' && error.reason === 'refused-by-engine');
    if (!mayLackIt) return null;
    const listed = await this.client.models(engine);
    if (!(error instanceof ModelMissing) && lists(listed, wished.adapter)) return null;
    return substitute(wished, listed);
  }
}
