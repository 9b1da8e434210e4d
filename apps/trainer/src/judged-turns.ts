import { contracts, messageSchema, readNewer } from '@hindcast/contracts';
import { Nats } from '@hindcast/platform';
import { DeliverPolicy, jetstream, type Consumer, type JsMsg } from '@nats-io/jetstream';
import type { JudgedTurn } from './core/canary';

const JUDGEMENTS = ['turnHinted', 'turnUnhinted'] as const;
const FETCH_MS = 1_000;

/**
 * The judgements of a trial's time, read from the stream itself: hinted or not, trained or dropped, each carries the version that
 * answered and its score. Nothing is kept outside the stream, so a trainer that restarts counts again from the trial's beginning.
 */
export class JudgedTurns {
  private turns: JudgedTurn[] = [];
  private readers: readonly Consumer[] | null = null;
  private since: number | null = null;

  constructor(private readonly nats: Nats) {}

  /**
   * Every judgement stored since then.
   *
   * @param at milliseconds since the epoch
   */
  async from(at: number): Promise<readonly JudgedTurn[]> {
    if (this.since !== at) this.forget();
    this.since = at;
    try {
      this.readers ??= await this.open(at);
      for (const [i, reader] of this.readers.entries()) await this.read(JUDGEMENTS[i]!, reader);
    } catch (error) {
      // A reader that lost its place would leave turns out without a word.
      this.forget();
      throw error;
    }
    return this.turns;
  }

  private forget(): void {
    this.turns = [];
    this.readers = null;
    this.since = null;
  }

  private async open(at: number): Promise<Consumer[]> {
    const { consumers } = jetstream(this.nats.connection());
    return await Promise.all(
      JUDGEMENTS.map((name) =>
        consumers.get('RL', {
          filter_subjects: contracts[name].subject,
          deliver_policy: DeliverPolicy.StartTime,
          opt_start_time: new Date(at).toISOString(),
        }),
      ),
    );
  }

  private async read(name: (typeof JUDGEMENTS)[number], reader: Consumer): Promise<void> {
    const { num_pending: pending } = await reader.info();
    if (pending === 0) return;
    let left = pending;
    for await (const message of await reader.fetch({ max_messages: pending, expires: FETCH_MS })) {
      const parsed = readNewer(messageSchema(name), jsonOf(message));
      if (parsed.success) this.turns.push(judgedTurn(parsed.data.turnId!, parsed.data.body));
      if (--left === 0) break;
    }
  }
}

/** `null` for what is no JSON: whoever handles judgements dead-letters it, and it must not keep a trial from its end. */
function jsonOf(message: JsMsg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}

function judgedTurn(
  turnId: string,
  {
    policyVersion,
    evalScore,
    evalVotes,
    rewardSource,
  }: {
    readonly policyVersion: number;
    readonly evalScore: number;
    readonly evalVotes: readonly { readonly score: number | null }[];
    readonly rewardSource: string;
  },
): JudgedTurn {
  const isScored = rewardSource !== 'votes' || evalVotes.some(({ score }) => score !== null);
  return { turnId, policyVersion, evalScore, isScored };
}
