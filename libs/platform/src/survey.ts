import { readNewer, surveys, type SurveyName } from '@hindcast/contracts';
import { createInbox, type Msg, type NatsConnection } from '@nats-io/nats-core';
import type { z } from 'zod';

/** Nobody runs more processes on one bus; what comes beyond is not looked at. */
const MOST_ANSWERS = 256;
/** Larger ones are not looked at, bytes. */
const LARGEST_ANSWER = 256 * 1024;
/** Once all who answered last time have, others get so long. */
const QUIET_MS = 100;
const NO_RESPONDERS = 503;

export type SurveyQuestion<S extends SurveyName> = z.infer<(typeof surveys)[S]['request']>;
export type SurveyAnswer<S extends SurveyName> = z.infer<(typeof surveys)[S]['reply']>;

/** Asks every process that listens and gathers what they answer; knows who answered last time, so as not to wait for nobody. */
export class Survey<S extends SurveyName> {
  private known: ReadonlySet<string> = new Set();

  constructor(private readonly name: S) {}

  /**
   * All valid answers that came within `waitMs`, one for each process; at most 256. It ends early when everybody who answered last time
   * has, and nobody else does.
   */
  async gather(connection: NatsConnection, body: SurveyQuestion<S>, waitMs: number): Promise<SurveyAnswer<S>[]> {
    const { subject, request } = surveys[this.name];
    const answers = new Map<string, SurveyAnswer<S>>();
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    let quiet: NodeJS.Timeout | undefined;
    const overdue = setTimeout(settle, waitMs);
    const inbox = connection.subscribe(createInbox(), {
      max: MOST_ANSWERS,
      callback: (error, message) => {
        if (error || message.headers?.code === NO_RESPONDERS) return settle();
        const answer = this.read(message);
        if (answer === null) return;
        answers.set(`${answer.app} ${answer.instance}`, answer);
        clearTimeout(quiet);
        if (this.isComplete(answers)) quiet = setTimeout(settle, QUIET_MS);
      },
    });
    // Also when the connection is lost, or the last answer of those that are looked at came.
    void inbox.closed.then(settle, settle);
    try {
      connection.publish(subject, JSON.stringify(request.parse(body)), { reply: inbox.getSubject() });
      await settled;
    } finally {
      clearTimeout(overdue);
      clearTimeout(quiet);
      inbox.unsubscribe();
    }
    this.known = new Set(answers.keys());
    return [...answers].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, answer]) => answer);
  }

  private isComplete(answers: ReadonlyMap<string, unknown>): boolean {
    return this.known.size > 0 && [...this.known].every((process) => answers.has(process));
  }

  private read(message: Msg): SurveyAnswer<S> | null {
    if (message.data.length > LARGEST_ANSWER) return null;
    try {
      const parsed = readNewer(surveys[this.name].reply, message.json());
      return parsed.success ? (parsed.data as SurveyAnswer<S>) : null;
    } catch {
      return null;
    }
  }
}
