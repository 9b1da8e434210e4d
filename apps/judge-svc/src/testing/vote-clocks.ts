import { VoteClock } from '../vote-clock';

/** The clocks of the votes of this process: a test says when their deadline is, once what is to come before it has come. */
export class VoteClocks {
  private readonly running = new Set<VoteClock>();
  private stopped = 0;

  constructor() {
    const { start, stop } = VoteClock.prototype;
    const { running } = this;
    const decided = (): void => void this.stopped++;
    VoteClock.prototype.start = function (): void {
      running.add(this);
      start.call(this);
    };
    VoteClock.prototype.stop = function (): void {
      if (running.delete(this)) decided();
      stop.call(this);
    };
  }

  /** Votes that were decided so far. */
  get decided(): number {
    return this.stopped;
  }

  /** Votes whose clock runs. */
  get underWay(): number {
    return this.running.size;
  }

  /** It is the deadline of every vote whose clock runs. */
  strike(): void {
    for (const clock of [...this.running]) clock.expire();
  }
}
