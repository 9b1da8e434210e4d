/** Faults of one turn after which it is given up, when other turns were scored meanwhile. */
const MAX_FAULTS = 5;
/** A turn that another replica goes on with is forgotten at last. */
const MAX_TURNS = 1_000;

/** Tells an engine that is in trouble from a turn that it cannot score. */
export class FaultCount {
  /** Turns that were scored. */
  answered = 0;
  private readonly turns = new Map<string, { faults: number; readonly answeredBefore: number }>();

  succeeded(turnId: string): void {
    this.answered++;
    this.turns.delete(turnId);
  }

  /** Counts a fault of the turn; true once they are so many that only the turn can be the reason. */
  isGivenUp(turnId: string): boolean {
    const turn = this.turns.get(turnId) ?? { faults: 0, answeredBefore: this.answered };
    turn.faults++;
    this.turns.set(turnId, turn);
    if (this.turns.size > MAX_TURNS) this.turns.delete(this.turns.keys().next().value!);
    const isGivenUp = turn.faults >= MAX_FAULTS && this.answered > turn.answeredBefore;
    if (isGivenUp) this.turns.delete(turnId);
    return isGivenUp;
  }
}
