import { ContractViolation, DependencyUnavailable } from '@hindcast/contracts';
import { JetStreamApiError } from '@nats-io/jetstream';
import { Latest } from '@hindcast/platform';
import type { KvAccess } from './kv-access';
import type { OwnRevisions } from './own-revisions';

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

/** Keys whose list is remembered. */
const REMEMBERED = 5_000;

interface List<T> {
  readonly items: readonly T[];
  /** 0: there is no list. */
  readonly revision: number;
}

/**
 * Small lists under keys of KV `open-turns`, changed by compare-and-set on the revision. Changes of this process to one key that
 * come at the same time are written together. An empty list is a message removed, not a marker left behind.
 */
export class StoredLists<T> {
  private readonly waiting = new Map<string, Waiting<T>[]>();
  /** As this process wrote them last: where nobody else has written since, the next change needs no read. */
  private readonly remembered = new Latest<string, List<T>>(REMEMBERED);

  constructor(
    private readonly access: KvAccess,
    /** First part of the key. */
    private readonly prefix: string,
    private readonly revisions?: OwnRevisions<T>,
    /** Whether an entry is about to go: a list too large with it is not too large for ever. */
    private readonly isPassing: (item: T) => boolean = () => false,
  ) {
    // A server that comes back may have another store, with other lists under the same revisions.
    access.onLost(() => this.remembered.clear());
  }

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
   * @throws ContractViolation when the list would be larger than the server takes
   * @throws DependencyUnavailable or a NATS error when the change is not confirmed; it may have been made all the same.
   *   Also where there is no room only until other entries are gone.
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
        await this.writeTogether(key, batch);
      } catch (error) {
        // Together they may be too large where each is not.
        if (batch.length > 1 && error instanceof ContractViolation) {
          for (const one of batch) await this.writeTogether(key, [one]).catch(one.reject);
        } else for (const { reject } of batch) reject(error);
      }
    }
    this.waiting.delete(key);
  }

  private async writeTogether(key: string, batch: readonly Waiting<T>[]): Promise<void> {
    await this.write(
      key,
      batch.map(({ change }) => change),
      batch.every(({ assumeEmpty }) => assumeEmpty),
    );
    for (const { resolve } of batch) resolve();
  }

  private async write(key: string, changes: readonly Change<T>[], assumeEmpty: boolean): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // Opening can take as long as NATS is away; what is to be written is decided after it.
      if (!this.access.isOpen('openTurns'))
        await this.access.whileConnected(Promise.all([this.access.kv('openTurns'), this.access.manager()]));
      const remembered = attempt === 1 ? this.remembered.get(key) : undefined;
      const list = remembered ?? (assumeEmpty && attempt === 1 ? NO_LIST : await this.readRevision(key));
      const next = changes.reduce<readonly T[]>((items, change) => change(items), list.items);
      if (next.length === list.items.length && next.every((item, index) => item === list.items[index])) {
        // Another gateway may have written what there would be to change.
        if (!remembered) return;
        continue;
      }
      this.remembered.delete(key);
      try {
        await this.replace(key, list, next);
        return;
      } catch (error) {
        if (error instanceof ContractViolation && list.items.some(this.isPassing))
          throw new DependencyUnavailable('nats', `${this.prefix}.${key} has no room yet`);
        if (!isConflict(error)) throw error;
      }
    }
    throw new DependencyUnavailable('nats', `${this.prefix}.${key} changed ${MAX_ATTEMPTS} times in a row`);
  }

  private async replace(key: string, list: List<T>, items: readonly T[]): Promise<void> {
    if (items.length === 0) {
      const manager = await this.access.manager();
      await this.access.whileConnected(manager.streams.deleteMessage('KV_open-turns', list.revision, false));
      this.revisions?.replaced(list.revision);
      return;
    }
    const value = JSON.stringify(items);
    const revision = await this.access.whileConnected(
      this.access.put('openTurns', `${this.prefix}.${key}`, value, list.revision),
    );
    this.revisions?.replaced(list.revision);
    this.revisions?.wrote(revision, key, items);
    this.remembered.set(key, { items, revision });
  }

  private async readRevision(key: string): Promise<List<T>> {
    const kv = await this.access.kv('openTurns');
    const entry = await this.access.whileConnected(kv.get(`${this.prefix}.${key}`));
    if (!entry) return NO_LIST;
    return { items: entry.operation === 'PUT' ? entry.json<T[]>() : [], revision: entry.revision };
  }
}

const NO_LIST: List<never> = { items: [], revision: 0 };

/** Another revision than the expected one is there, or none. */
export const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  [WRONG_LAST_SEQUENCE, NO_MESSAGE_FOUND, SEQUENCE_NOT_FOUND].includes(error.code);
