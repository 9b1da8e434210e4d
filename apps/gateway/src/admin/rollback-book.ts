import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RollbackAnswer, RollbackWish, readNewer } from '@hindcast/contracts';
import type { z } from 'zod';
import { KvAccess } from '../kv-access';

/** The last wish for an earlier version, and what became of it. */
export interface Rollback {
  readonly wish: RollbackWish;
  /** `null` until the trainer has answered this wish. */
  readonly answer: RollbackAnswer | null;
}

/** Wishes for an earlier version; the trainer reads and answers them. */
@Injectable()
export class RollbackBook {
  constructor(private readonly access: KvAccess) {}

  /**
   * A wish takes the place of an earlier one, answered or not.
   *
   * @returns its id
   * @throws DependencyUnavailable while NATS is away
   */
  async wish(version: number, reason: string | null): Promise<string> {
    const wish: RollbackWish = { id: randomUUID(), version, reason, at: Date.now() };
    await this.access.whileConnected(this.access.put('policy', 'rollback-request', JSON.stringify(wish)));
    return wish.id;
  }

  /** @throws DependencyUnavailable while NATS is away */
  async last(): Promise<Rollback | null> {
    const [wish, answer] = await this.access.whileConnected(
      Promise.all([this.read('rollback-request', RollbackWish), this.read('rollback-outcome', RollbackAnswer)]),
    );
    return wish && { wish, answer: answer?.id === wish.id ? answer : null };
  }

  private async read<S extends z.ZodType>(key: string, schema: S): Promise<z.infer<S> | null> {
    const entry = await (await this.access.kv('policy')).get(key);
    if (entry?.operation !== 'PUT') return null;
    const parsed = readNewer(schema, readJson(entry));
    return parsed.success ? parsed.data : null;
  }
}

function readJson(entry: { json<T>(): T }): unknown {
  try {
    return entry.json<unknown>();
  } catch {
    return null;
  }
}
