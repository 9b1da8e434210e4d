import { DependencyUnavailable } from '@hindcast/contracts';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { KvAccess } from './kv-access';

const WRONG_LAST_SEQUENCE = 10071;
const NO_MESSAGE_FOUND = 10037;
const SEQUENCE_NOT_FOUND = 10043;
/** Many gateways on one key take turns; more conflicts in a row than this mean that something else is wrong. */
const MAX_ATTEMPTS = 200;

type Change<T> = (items: readonly T[]) => readonly T[];

interface Waiting<T> {
  readonly change: Change<T>;
  readonly assumeEmpty: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Small lists under keys of KV `open-turns`, changed by compare-and-set on the revision. Changes of this process to one key that
 * come at the same time are written together. An empty list is a message removed, not a marker left behind.
 */
export class StoredLists<T> {
  private readonly waiting = new Map<string, Waiting<T>[]>();

  constructor(
    private readonly access: KvAccess,
    /** First part of the key. */
    private readonly prefix: string,
  ) {}

  /** Subject that matches all lists of this kind. */
  get subjects(): string {
    return `$KV.open-turns.${this.prefix}.*`;
  }

  async read(key: string): Promise<readonly T[]> {
    return (await this.readRevision(key)).items;
  }

  /**
   * `change` may run several times, the last one counts. `assumeEmpty` saves a read where the key is most likely new.
   *
   * @throws DependencyUnavailable or a NATS error when the change is not confirmed; it may have been made all the same.
   */
  change(key: string, change: Change<T>, assumeEmpty = false): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting<T> = { change, assumeEmpty, resolve, reject };
      const queue = this.waiting.get(key);
      if (queue) return void queue.push(entry);
      const fresh = [entry];
      this.waiting.set(key, fresh);
      void this.writeAll(key, fresh);
    });
  }

  private async writeAll(key: string, queue: Waiting<T>[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0);
      try {
        await this.write(
          key,
          batch.map(({ change }) => change),
          batch.every(({ assumeEmpty }) => assumeEmpty),
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.waiting.delete(key);
  }

  private async write(key: string, changes: readonly Change<T>[], assumeEmpty: boolean): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // Opening can take as long as NATS is away; what is to be written is decided after it.
      const opening = Promise.all([this.access.kv('openTurns'), this.access.manager()]);
      const [, manager] = await this.access.whileConnected(opening);
      const { items, revision } =
        assumeEmpty && attempt === 1 ? { items: [], revision: 0 } : await this.readRevision(key);
      const next = changes.reduce<readonly T[]>((list, change) => change(list), items);
      if (next.length === items.length && next.every((item, index) => item === items[index])) return;
      try {
        await this.access.whileConnected<unknown>(
          next.length === 0
            ? manager.streams.deleteMessage('KV_open-turns', revision, false)
            : this.access.put('openTurns', `${this.prefix}.${key}`, JSON.stringify(next), revision),
        );
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
    throw new DependencyUnavailable('nats', `${this.prefix}.${key} changed ${MAX_ATTEMPTS} times in a row`);
  }

  private async readRevision(key: string): Promise<{ items: readonly T[]; revision: number }> {
    const kv = await this.access.kv('openTurns');
    const entry = await this.access.whileConnected(kv.get(`${this.prefix}.${key}`));
    if (!entry) return { items: [], revision: 0 };
    return { items: entry.operation === 'PUT' ? entry.json<T[]>() : [], revision: entry.revision };
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  [WRONG_LAST_SEQUENCE, NO_MESSAGE_FOUND, SEQUENCE_NOT_FOUND].includes(error.code);
