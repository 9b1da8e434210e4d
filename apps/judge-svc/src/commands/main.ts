import 'reflect-metadata';
import { HindcastError } from '@hindcast/contracts';
import { parseConfig } from '@hindcast/platform';
import { JudgeConfig } from '../config';
import { trialVote } from './trial-vote';

/** The configuration is wrong. */
const MISUSED = 2;

// Asks the judge for one vote on a made-up turn and prints what it came to, one line of JSON: for `hindcast doctor`.
void (async () => {
  try {
    const vote = await trialVote(parseConfig('judge-svc', JudgeConfig, process.env));
    process.stdout.write(`${JSON.stringify(vote)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof HindcastError && error.code === 'config-invalid' ? MISUSED : 1;
  }
})();
