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

/** What a check said. */
export interface CheckResult {
  readonly name: string;
  /** The service is not ready without it. */
  readonly required: boolean;
  /** What is wrong; `null` while it holds. */
  readonly reason: string | null;
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
    for (const { name, required, reason } of await this.results()) {
      if (reason !== null) (required ? waiting : degraded).push(`${name}: ${reason}`);
    }
    return { ready: waiting.length === 0, waiting: waiting.sort(), degraded: degraded.sort() };
  }

  /** Every check, those that hold too, by name. One that takes longer than `timeoutMs` has failed. */
  async results(timeoutMs = CHECK_TIMEOUT_MS): Promise<CheckResult[]> {
    const results = [...this.checks].map(async ([name, { check, required }]) => {
      try {
        await Promise.race([check(), overdue(timeoutMs)]);
        return { name, required, reason: null };
      } catch (error) {
        return { name, required, reason: error instanceof Error ? error.message : String(error) };
      }
    });
    return (await Promise.all(results)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

async function overdue(timeoutMs: number): Promise<never> {
  await sleep(timeoutMs, undefined, { ref: false });
  throw new Error('no answer');
}
