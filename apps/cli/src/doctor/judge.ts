import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../root';
import type { Launch } from '../other-programs';
import { TrialVote, judgeFinding } from './core/judge-findings';
import { fault, ok, skipped, warning, type Finding } from './core/finding';
import { listedModels } from './core/model-findings';
import { Unreachable, call } from './http';
import { startOf, type Settings } from './settings';

const ENTRY = 'apps/judge-svc/dist/commands/main.js';

/** One real vote, asked for by the judge service's own code and settings. */
export async function checkJudge(settings: Settings, launch: Launch): Promise<Finding[]> {
  const { judge, judgeEnv, trainer } = settings;
  if (trainer.METHOD === 'none') return [skipped('judge', 'METHOD=none: votes train nothing')];
  const check = `judge ${judge.JUDGE_BASE_URL}`;
  const child = spawn(process.execPath, [...launch(ENTRY)], {
    cwd: root,
    env: { ...judgeEnv },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Record<'out' | 'err', string> = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0)
    return [
      fault(
        check,
        said.err.trim().replace(/\s*\n\s*/g, ' '),
        'Correct the variables that it names (.env.example explains each), or run npm run build.',
      ),
    ];
  const vote = TrialVote.parse(JSON.parse(said.out));
  const findings = [judgeFinding(check, vote, judge, startOf(settings, 'demo-judge', judge.JUDGE_BASE_URL))];
  if (vote.outcome === 'refused' && /40[04]|422/.test(vote.why ?? ''))
    findings.push(...(await modelHint(check, judge)));
  return findings;
}

/** A judge that refuses may have another name for its model. */
async function modelHint(check: string, judge: Settings['judge']): Promise<Finding[]> {
  try {
    const { json } = await call({ key: judge.JUDGE_API_KEY }, `${judge.JUDGE_BASE_URL}/models`, undefined, 5_000);
    const models = listedModels(json);
    if (models === null) return [];
    const shown = models.slice(0, 8).join(', ');
    if (models.includes(judge.JUDGE_MODEL)) return [ok(`${check}: model`, `lists ${judge.JUDGE_MODEL}`)];
    return [
      warning(
        `${check}: model`,
        `does not list ${judge.JUDGE_MODEL}; it lists ${shown}`,
        'Set JUDGE_MODEL to one of these names.',
      ),
    ];
  } catch (error) {
    if (error instanceof Unreachable) return [];
    throw error;
  }
}
