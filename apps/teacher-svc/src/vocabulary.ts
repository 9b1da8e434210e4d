import { DependencyUnavailable } from '@hindcast/contracts';
import { CONFIG, Health, Log, Metrics } from '@hindcast/platform';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { TeacherConfig } from './config';
import { CURRENT } from './core/teacher-model';
import { TeacherRefusal } from './core/teacher-refusal';
import { vocabularyDifference, vocabularyProbes } from './core/vocabulary-probes';
import { EngineHttp, type EnginePlace } from './engine-http';
import { idsOf } from './teacher-client';
import { TeacherEngines } from './teacher-engines';

/** What was not the same is compared again after this, when a turn needs it: somebody may have replaced the teacher. */
const RECHECK_MS = 30_000;

interface Verdict {
  /** `unknown`: an engine tells nobody its ids. Every turn's own prompt is compared all the same. */
  readonly is: 'same' | 'different' | 'unknown';
  readonly detail: string;
  readonly at: number;
}
type ProbeIds = ReadonlyMap<string, readonly number[]>;

/**
 * Whether a teacher's engine has the policy's vocabulary: both are asked for the ids of the same texts, at the start, when an engine comes
 * back, and again while they differ. Where the policy's own engine and model are the teacher nothing is asked.
 */
@Injectable()
export class Vocabulary implements OnApplicationBootstrap {
  private readonly verdicts = new Map<string, Promise<Verdict>>();
  private readonly known = new Map<string, Verdict>();
  private policyIds: ProbeIds | null = null;
  private readonly model: string;

  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly http: EngineHttp,
    private readonly engines: TeacherEngines,
    private readonly log: Log,
    health: Health,
    metrics: Metrics,
  ) {
    this.model = config.TEACHER_MODEL === CURRENT ? config.POLICY_MODEL : config.TEACHER_MODEL;
    engines.onAway((url) => {
      this.verdicts.delete(url);
      this.known.delete(url);
    });
    health.addOptionalCheck('teacher', () => {
      const reasons = engines.urls.map((url) => this.trouble(url)).filter((reason) => reason !== null);
      if (reasons.length > 0) throw new Error(reasons.join('; '));
    });
    metrics.gauge(
      'teacher_vocabulary_mismatch',
      'Engines of the teacher that have another vocabulary than the policy',
      [],
      (gauge) => gauge.set([...this.known.values()].filter(({ is }) => is === 'different').length),
    );
  }

  /** Does not hold up the start: an engine that is away is asked again by the first turn that needs it. */
  onApplicationBootstrap(): void {
    for (const url of this.engines.urls)
      void this.verdict(url).catch((error: unknown) => this.log.warn('teacher.waiting', { engine: url, error }));
  }

  /** @throws TeacherRefusal `vocabulary-mismatch`; DependencyUnavailable while it cannot be told */
  async require(url: string): Promise<void> {
    const verdict = await this.verdict(url);
    if (verdict.is === 'different') throw new TeacherRefusal('vocabulary-mismatch', verdict.detail);
  }

  private verdict(url: string): Promise<Verdict> {
    const known = this.known.get(url);
    if (known && known.is !== 'same' && Date.now() - known.at > RECHECK_MS) {
      this.verdicts.delete(url);
      this.policyIds = null;
    }
    let running = this.verdicts.get(url);
    if (!running) {
      running = this.compare(url);
      this.verdicts.set(url, running);
      running.then(
        (verdict) => this.known.set(url, verdict),
        () => this.verdicts.delete(url),
      );
    }
    return running;
  }

  private async compare(url: string): Promise<Verdict> {
    const at = Date.now();
    if (this.isPolicyItself(url)) return { is: 'same', detail: '', at };
    const { TEACHER_API_KEY: apiKey } = this.config;
    const [policy, teacher] = await Promise.all([
      this.policyProbes(),
      this.probe({ baseUrl: url, apiKey }, this.model, 'teacher engine'),
    ]);
    const missing = policy === null ? 'policy' : teacher === null ? 'teacher' : null;
    if (policy === null || teacher === null) {
      const detail = `the ${missing}'s engine has no /tokenize`;
      this.log.warn('teacher.vocabulary-unknown', { engine: url, detail });
      return { is: 'unknown', detail, at };
    }
    const difference = vocabularyDifference(policy, teacher);
    if (difference === null) {
      this.log.info('teacher.vocabulary-same', { engine: url, model: this.model });
      return { is: 'same', detail: '', at };
    }
    this.log.error('teacher.vocabulary-mismatch', { engine: url, model: this.model, detail: difference });
    return { is: 'different', detail: difference, at };
  }

  /** Its versions share the tokenizer of their base model. */
  private isPolicyItself(url: string): boolean {
    return this.model === this.config.POLICY_MODEL && this.config.POLICY_BASE_URL.includes(url);
  }

  /** Of the first policy engine that answers. */
  private async policyProbes(): Promise<ProbeIds | null> {
    if (this.policyIds) return this.policyIds;
    const { POLICY_BASE_URL, POLICY_MODEL, POLICY_API_KEY: apiKey } = this.config;
    let away: unknown;
    for (const baseUrl of POLICY_BASE_URL) {
      try {
        return (this.policyIds = await this.probe({ baseUrl, apiKey }, POLICY_MODEL, 'policy engine'));
      } catch (error) {
        away = error;
      }
    }
    throw away;
  }

  /** Null where the engine has no such call. */
  private async probe(place: EnginePlace, model: string, whose: string): Promise<ProbeIds | null> {
    const ids = new Map<string, readonly number[]>();
    for (const [name, prompt] of Object.entries(vocabularyProbes)) {
      const reply = await this.http
        .post(place, '/tokenize', { model, prompt, add_special_tokens: false })
        .catch((error: unknown) => {
          throw error instanceof DependencyUnavailable ? renamed(error, whose) : error;
        });
      if (reply.status !== 200) return null;
      let answer: unknown;
      try {
        answer = JSON.parse(reply.body.toString('utf8'));
      } catch (cause) {
        throw new DependencyUnavailable(whose, 'the answer is not JSON', 1_000, { cause });
      }
      ids.set(name, idsOf((answer as { tokens?: unknown } | null)?.tokens, reply.path));
    }
    return ids;
  }

  private trouble(url: string): string | null {
    const verdict = this.known.get(url);
    if (verdict?.is === 'different') return `${url} has another vocabulary than the policy: ${verdict.detail}`;
    if (verdict?.is === 'unknown') return `${url}: vocabulary not compared, ${verdict.detail}`;
    if (this.engines.away.includes(url)) return `${url} is away`;
    return verdict ? null : `${url}: vocabulary not compared yet`;
  }
}

const renamed = (error: DependencyUnavailable, whose: string): DependencyUnavailable =>
  new DependencyUnavailable(whose, error.message, error.retryAfterMs, { cause: error });
