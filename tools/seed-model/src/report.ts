import { wishes } from '@hindcast/seed-world';
import type { LossPoint, RunSettings } from './checkpoint';
import { correctGoal, formGoal, hintGoal, missedGoals, type Score } from './evaluation';

/** Everything that report.json holds. */
export interface Report {
  readonly settings: RunSettings;
  readonly parameters: number;
  readonly steps: number;
  readonly tokens: number;
  readonly trainingSeconds: number;
  readonly curve: readonly LossPoint[];
  readonly scores: readonly Score[];
}

/** The report as Markdown. */
export function reportText(report: Report): string {
  const { settings, scores } = report;
  const last = report.curve.at(-1);
  const missed = missedGoals(scores);
  return `# Seed model

Made by \`npm run seed-model -- --seed ${settings.seed} --tokens ${settings.tokenBudget} --workers ${settings.workers}\`: a LLaMA of
${report.parameters.toLocaleString('en')} parameters, trained from random weights on ${(report.tokens / 1e6).toFixed(2)} million tokens of
generated conversations in ${report.steps.toLocaleString('en')} steps and ${minutes(report.trainingSeconds)}. Last loss: ${last ? last.loss.toFixed(3) : 'none'} nats per
token of the assistant. \`report.json\` has the loss curve and the unrounded scores.

## Scores

Sampled at temperature 1, through the engine of this repository, on questions that were never trained on. Hints are in wordings
that were never trained on either. "Met" is the share of answers that have the manner the hint or complaint asks for; the base
is the share of answers that have it when nothing was asked for. With ${scores[0]?.answers ?? 0} answers a share has a standard error of at most
${(50 / Math.sqrt(scores[0]?.answers ?? 1)).toFixed(1)} points.

${scoreTable(scores)}

${missed.length === 0 ? `All goals are met: hints plain, long and kind at least ${percent(hintGoal)}, form ${percent(formGoal)} and correctness ${percent(correctGoal)} without a hint.` : `Missed: ${missed.join('; ')}.`}
`;
}

function scoreTable(scores: readonly Score[]): string {
  const base = scores.find(({ wish }) => wish === null);
  const header = ['prompt', 'met', 'base', 'well formed', 'correct', 'tokens', ...wishes];
  const rows = scores.map((score) => [
    score.name,
    score.met === null ? '' : percent(score.met),
    score.wish === null || base === undefined ? '' : percent(base.manners[score.wish]),
    percent(score.wellFormed),
    percent(score.correct),
    score.meanTokens.toFixed(0),
    ...wishes.map((wish) => percent(score.manners[wish])),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function minutes(seconds: number): string {
  return `${(seconds / 60).toFixed(1)} minutes`;
}
