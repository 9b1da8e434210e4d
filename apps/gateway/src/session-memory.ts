import { Injectable } from '@nestjs/common';
import { DependencyUnavailable } from '@hindcast/contracts';
import { Latest } from '@hindcast/platform';
import { isMarked, marksFrom, noMarks, withMarks, type Marks } from './core/seen-marks';
import { KvAccess } from './kv-access';
import { isConflict } from './stored-lists';

/** Sessions whose marks are kept here as well. */
const REMEMBERED = 2_000;
/** Requests of one session that come together take turns; more conflicts in a row mean that something else is wrong. */
const MAX_ATTEMPTS = 200;

interface Memory {
  readonly marks: Marks;
  /** 0: there is none yet. */
  readonly revision: number;
}

/**
 * What was asked in each session, at whichever gateway: marks of hashes in KV `session-memory`. One gateway alone cannot tell an edited
 * history from one that another gateway was asked before.
 */
@Injectable()
export class SessionMemory {
  /** As this process wrote them last. */
  private readonly remembered = new Latest<string, Memory>(REMEMBERED);

  constructor(private readonly access: KvAccess) {
    // A server that comes back may have another store, with other marks under the same revisions.
    access.onLost(() => this.remembered.clear());
  }

  /** Opens the bucket. */
  async prepare(): Promise<void> {
    await this.access.kv('sessionMemory');
  }

  /**
   * Adds hashes to what a session remembers.
   *
   * @returns whether it remembered a hash before; of two requests that add the same at once, one finds it remembered
   * @throws DependencyUnavailable or a NATS error when it is not confirmed; it may have been added all the same
   */
  async add(sessionId: string, hashes: readonly string[]): Promise<(hash: string) => boolean> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const remembered = attempt === 1 ? this.remembered.get(sessionId) : undefined;
      const before = remembered ?? (await this.read(sessionId));
      const marks = withMarks(before.marks, hashes);
      // With nothing to write, nobody says whether another gateway has added to it since.
      const isCurrent = marks === before.marks ? !remembered : await this.replace(sessionId, before, marks);
      if (isCurrent) return (hash) => isMarked(before.marks, hash);
    }
    throw new DependencyUnavailable('nats', `the memory of a session changed ${MAX_ATTEMPTS} times in a row`);
  }

  /** @returns whether nobody else had written in between */
  private async replace(sessionId: string, { revision: previous }: Memory, marks: Marks): Promise<boolean> {
    this.remembered.delete(sessionId);
    try {
      const put = this.access.put('sessionMemory', sessionId, marks, previous);
      this.remembered.set(sessionId, { marks, revision: await this.access.whileConnected(put) });
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  private async read(sessionId: string): Promise<Memory> {
    const kv = await this.access.kv('sessionMemory');
    const entry = await this.access.whileConnected(kv.get(sessionId));
    if (!entry) return { marks: noMarks(), revision: 0 };
    return { marks: entry.operation === 'PUT' ? marksFrom(entry.value) : noMarks(), revision: entry.revision };
  }
}
