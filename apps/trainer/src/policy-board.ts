import { CurrentPolicy, RollbackAnswer, RollbackWish, TrainerSettings, readNewer } from '@hindcast/contracts';
import { Buckets } from '@hindcast/platform';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';

const CURRENT = 'current';
const TRAINER = 'trainer';
const WISH = 'rollback-request';
const ANSWER = 'rollback-outcome';
/** JetStream's answer to an update of a revision that is no longer the last. */
const WRONG_LAST_SEQUENCE = 10071;

export type NextPolicy = Omit<CurrentPolicy, 'at'>;

/** KV `policy`: which version serves, where every gateway, dispatcher and teacher reads it. Changed by compare-and-set only. */
@Injectable()
export class PolicyBoard {
  private bucket: Promise<KV> | null = null;

  constructor(private readonly buckets: Buckets) {}

  /** What is announced; `null` before the first announcement, or when it is not readable. */
  async current(): Promise<CurrentPolicy | null> {
    return parse(CurrentPolicy, await (await this.open()).get(CURRENT));
  }

  /** Announces a policy unless it is announced already. @returns whether something changed */
  async announce(next: NextPolicy): Promise<boolean> {
    const bucket = await this.open();
    for (;;) {
      const entry = await bucket.get(CURRENT);
      const before = parse(CurrentPolicy, entry);
      if (before && isSame(before, next)) return false;
      const value = JSON.stringify(CurrentPolicy.parse({ ...next, at: Date.now() }));
      try {
        if (entry) await bucket.update(CURRENT, value, entry.revision);
        else await bucket.create(CURRENT, value);
        return true;
      } catch (error) {
        if (!(error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE)) throw error;
      }
    }
  }

  /** What the trainer runs with; written where it is missing or differs. */
  async writeSettings(settings: TrainerSettings): Promise<void> {
    const bucket = await this.open();
    const value = JSON.stringify(TrainerSettings.parse(settings));
    const entry = await bucket.get(TRAINER);
    if (entry?.operation !== 'PUT' || entry.string() !== value) await bucket.put(TRAINER, value);
  }

  /** The rollback that somebody asked for last; `null` for none, or one that is not readable. */
  async rollbackWish(): Promise<RollbackWish | null> {
    return parse(RollbackWish, await (await this.open()).get(WISH));
  }

  /** What was said last of a rollback that somebody asked for. */
  async rollbackAnswer(): Promise<RollbackAnswer | null> {
    return parse(RollbackAnswer, await (await this.open()).get(ANSWER));
  }

  async answerRollback(answer: RollbackAnswer): Promise<void> {
    await (await this.open()).put(ANSWER, JSON.stringify(RollbackAnswer.parse(answer)));
  }

  private open(): Promise<KV> {
    this.bucket ??= this.buckets.open('policy').catch((error: unknown) => {
      this.bucket = null;
      throw error;
    });
    return this.bucket;
  }
}

function parse<S extends z.ZodType>(schema: S, entry: KvEntry | null): z.infer<S> | null {
  if (entry?.operation !== 'PUT') return null;
  try {
    return readNewer(schema, entry.json()).data ?? null;
  } catch {
    return null;
  }
}

function isSame(before: CurrentPolicy, next: NextPolicy): boolean {
  const { at: _, ...rest } = before;
  return comparable(rest) === comparable(next);
}

/** One text for equal policies: the order of engines says nothing. */
function comparable({ version, adapter, engines, weights, canary }: NextPolicy): string {
  const trial = canary && { ...canary, engines: [...canary.engines].sort() };
  const fields = trial && [trial.version, trial.adapter, trial.engines, trial.share, trial.at];
  return JSON.stringify([version, adapter, [...engines].sort(), weights, fields]);
}
