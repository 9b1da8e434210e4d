import { DependencyUnavailable } from '@hindcast/contracts';
import { CONFIG } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { TeacherConfig } from './config';
import { TeacherRefusal } from './core/teacher-refusal';

/** How long an engine that was away is asked last, milliseconds. */
const DOWN_MS = 2_000;

interface EngineState {
  readonly url: string;
  /** Turns that it scores now. */
  busy: number;
  /** Time until which others go first. */
  downUntil: number;
  away: boolean;
}

/** The engines that may score, the least busy first; when one is away the next is asked. */
@Injectable()
export class TeacherEngines {
  private readonly engines: readonly EngineState[];
  private readonly awayListeners: ((url: string) => void)[] = [];

  constructor(@Inject(CONFIG) { TEACHER_BASE_URL }: TeacherConfig) {
    this.engines = TEACHER_BASE_URL.map((url) => ({ url, busy: 0, downUntil: 0, away: false }));
  }

  get urls(): string[] {
    return this.engines.map(({ url }) => url);
  }

  /** Engines that did not answer when they were asked last. */
  get away(): string[] {
    return this.engines.filter(({ away }) => away).map(({ url }) => url);
  }

  /** Runs whenever an engine did not answer: what is known about it may be out of date. */
  onAway(listener: (url: string) => void): void {
    this.awayListeners.push(listener);
  }

  /**
   * Runs a turn's task on one engine after the other until one of them does it. Where some are away and the others have another
   * vocabulary, those that are away are waited for.
   *
   * @param preferred engines that go first, as those that hold a version
   * @throws DependencyUnavailable when none that could do it answers, and what the task throws
   */
  async use<T>(task: (url: string) => Promise<T>, preferred: ReadonlySet<string> = new Set()): Promise<T> {
    let unavailable: DependencyUnavailable | null = null;
    let foreign: TeacherRefusal | null = null;
    for (const engine of this.inOrder(preferred)) {
      engine.busy++;
      try {
        const result = await task(engine.url);
        engine.away = false;
        return result;
      } catch (error) {
        if (error instanceof TeacherRefusal) engine.away = false;
        if (error instanceof DependencyUnavailable) {
          unavailable = error;
          if (error.dependency === 'teacher engine') this.leave(engine);
        } else if (error instanceof TeacherRefusal && error.reason === 'vocabulary-mismatch') foreign = error;
        else throw error;
      } finally {
        engine.busy--;
      }
    }
    throw unavailable ?? foreign ?? new DependencyUnavailable('teacher engine', 'there is none');
  }

  private inOrder(preferred: ReadonlySet<string>): EngineState[] {
    const now = Date.now();
    const rank = ({ url, downUntil }: EngineState): number => (downUntil > now ? 2 : 0) + (preferred.has(url) ? 0 : 1);
    return [...this.engines].sort((a, b) => rank(a) - rank(b) || a.busy - b.busy);
  }

  private leave(engine: EngineState): void {
    engine.away = true;
    engine.downUntil = Date.now() + DOWN_MS;
    for (const listener of this.awayListeners) listener(engine.url);
  }
}
