import { Injectable } from '@nestjs/common';

const KEPT = 10_000;

/** Turn ids of the latest answers by response id: the ledger learns of them a moment later. Only a shortcut; nothing depends on it. */
@Injectable()
export class RecentTurns {
  private readonly turnIds = new Map<string, string>();

  add(tenant: string, responseId: string, turnId: string): void {
    this.turnIds.set(`${tenant}\n${responseId}`, turnId);
    if (this.turnIds.size > KEPT) this.turnIds.delete(this.turnIds.keys().next().value!);
  }

  turnId(tenant: string, responseId: string): string | null {
    return this.turnIds.get(`${tenant}\n${responseId}`) ?? null;
  }
}
