import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

const folder = join(__dirname, '../../k8s/components/monitoring');

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** What a PrometheusRule holds is what a rule file of Prometheus holds. */
export function ruleFile(name: 'alerts' | 'recording-rules'): RuleFile {
  const { spec } = load(readFileSync(join(folder, `${name}.yaml`), 'utf8')) as { spec: RuleFile };
  return spec;
}

export const rulesOf = (file: RuleFile): readonly Rule[] => file.groups.flatMap(({ rules }) => rules);

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string; readonly datasource: object }[];
  readonly panels?: readonly Panel[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

/** File name and dashboard. */
export function dashboards(): readonly (readonly [string, Dashboard])[] {
  const path = join(folder, 'dashboards');
  return readdirSync(path).map((file) => [file, JSON.parse(readFileSync(join(path, file), 'utf8')) as Dashboard]);
}

export interface Expression {
  /** Where it stands, for people. */
  readonly at: string;
  readonly expr: string;
}

/** Every PromQL expression of rules and dashboards. */
export function expressions(): readonly Expression[] {
  const rules = (['recording-rules', 'alerts'] as const).flatMap((name) =>
    rulesOf(ruleFile(name)).map(({ record, alert, expr }) => ({ at: `${name}.yaml: ${record ?? alert}`, expr })),
  );
  return [...rules, ...dashboards().flatMap(([file, dashboard]) => expressionsOf(file, dashboard))];
}

function expressionsOf(file: string, { panels, annotations, templating }: Dashboard): Expression[] {
  return [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ at: `${file}: ${title}`, expr }))),
    ...annotations.list.map(({ expr }) => ({ at: `${file}: annotation`, expr })),
    // `label_values(metric, label)` is Grafana's, not PromQL.
    ...templating.list.flatMap(({ name, definition }) => {
      const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? '') ?? [];
      return metric ? [{ at: `${file}: $${name}`, expr: `count by (${label}) (${metric})` }] : [];
    }),
  ];
}
