import { CONFIG, Log } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { JudgeConfig } from './config';
import type { Decision, Reply, VoteForm } from './core/vote';

/**
 * Whether votes ask for JSON by a schema. `auto` asks until the judge shows that it does not know it, by refusing what it takes without
 * the schema, or by answering in another form; that is remembered until the process ends.
 */
@Injectable()
export class StructuredOutput {
  private state: 'untried' | 'works' | 'unknown-to-judge' = 'untried';

  constructor(
    @Inject(CONFIG) private readonly config: JudgeConfig,
    private readonly log: Log,
  ) {}

  /** Form to ask the next vote for. */
  get form(): VoteForm {
    if (this.config.JUDGE_STRUCTURED === 'json_schema') return 'json';
    return this.config.JUDGE_STRUCTURED === 'auto' && this.state !== 'unknown-to-judge' ? 'either' : 'boxed';
  }

  /** The judge refused a request with the schema and took the same one without. */
  refused(): void {
    this.giveUp('refused');
  }

  /** A reply came. One that was cut off by `max_tokens` proves nothing. */
  saw({ form, cut, failed }: Reply, { saidAs }: Decision): void {
    if (form !== 'either' || failed || this.state !== 'untried') return;
    if (saidAs === 'json') this.state = 'works';
    else if (!cut) this.giveUp('ignored');
  }

  private giveUp(how: 'refused' | 'ignored'): void {
    if (this.state === 'unknown-to-judge') return;
    this.state = 'unknown-to-judge';
    this.log.info('judge.no-structured-output', { how });
  }
}
