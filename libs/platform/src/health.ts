import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** A check that hangs says as much as one that fails. */
const CHECK_TIMEOUT_MS = 2_000;

type Check = () => void | Promise<void>;

/** What `/readyz` answers. */
export interface Readiness {
  readonly ready: boolean;
  /** `name: reason` of everything that has to come first. */
  readonly waiting: readonly string[];
  /** `name: reason` of what is away while the service can still serve. */
  readonly degraded: readonly string[];
}

/** Collects what this service waits for. A check that throws makes `/readyz` answer 503 with its message. */
@Injectable()
export class Health {
  private readonly checks = new Map<string, { check: Check; required: boolean }>();

  addCheck(name: string, check: Check): void {
    this.checks.set(name, { check, required: true });
  }

  /** A dependency that the service works without for a while: named in the answer, which stays 200. */
  addOptionalCheck(name: string, check: Check): void {
    this.checks.set(name, { check, required: false });
  }

  removeCheck(name: string): void {
    this.checks.delete(name);
  }

  async readiness(): Promise<Readiness> {
    const waiting: string[] = [];
    const degraded: string[] = [];
    await Promise.all(
      [...this.checks].map(async ([name, { check, required }]) => {
        try {
          await Promise.race([check(), overdue()]);
        } catch (error) {
          (required ? waiting : degraded).push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        }
      }),
    );
    return { ready: waiting.length === 0, waiting: waiting.sort(), degraded: degraded.sort() };
  }
}

async function overdue(): Promise<never> {
  await sleep(CHECK_TIMEOUT_MS, undefined, { ref: false });
  throw new Error('no answer');
}
