import type { Exposition } from './exposition';
import { OUTSIDE_METRICS, TARGET_LABELS } from './outside-metrics';
import { parseQuery, type Selector } from './promql';

export interface Known {
  readonly exposed: Exposition;
  /** Labels of each recording rule. */
  readonly recorded: ReadonlyMap<string, readonly string[]>;
  /** Labels of metrics that have no sample as long as all goes well. */
  readonly unseen: Readonly<Record<string, readonly string[]>>;
}

/** What is wrong with an expression: its syntax, a metric that nobody has, a label that its metric has not. */
export function problemsOf(expr: string, known: Known): string[] {
  try {
    const { selectors, groupings } = parseQuery(expr);
    return [
      ...selectors.flatMap((selector) => selectorProblems(selector, known)),
      ...groupings.flatMap(({ labels, over }) =>
        labels
          // Where one operand has it, the others may do without.
          .filter((label) => over.length > 0 && over.every((selector) => lacks(selector.metric, label, known)))
          .map((label) => `no label ${label} on ${over.map(({ metric }) => metric).join(', ')}`),
      ),
    ];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [error.message];
  }
}

function selectorProblems({ metric, matchers }: Selector, known: Known): string[] {
  if (labelsOf(metric, known) === null) return [`no metric ${metric || '(without a name)'}`];
  return matchers
    .filter(({ label }) => lacks(metric, label, known))
    .map(({ label }) => `no label ${label} on ${metric}`);
}

function lacks(metric: string, label: string, known: Known): boolean {
  const labels = labelsOf(metric, known);
  return labels !== null && !labels.includes(label);
}

/** `null` for a metric that nobody has. */
function labelsOf(metric: string, { exposed, recorded, unseen }: Known): readonly string[] | null {
  const rule = recorded.get(metric);
  if (rule) return rule;
  const own = OUTSIDE_METRICS[metric] ?? unseen[metric] ?? exposed.get(metric)?.labels;
  return own && exists(metric, exposed) ? [...own, 'app', ...TARGET_LABELS] : null;
}

const exists = (metric: string, exposed: Exposition): boolean => metric in OUTSIDE_METRICS || exposed.has(metric);
