import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboards, expressions, ruleFile, rulesOf, type Panel } from './monitoring-files';
import { parseQuery } from './promql';

const root = join(__dirname, '../..');
const alerts = rulesOf(ruleFile('alerts'));
const duplicates = (values: readonly unknown[]): unknown[] => values.filter((value, i) => values.indexOf(value) !== i);

it('every expression is PromQL', () => {
  const refused = expressions().flatMap(({ at, expr }) => {
    try {
      parseQuery(expr);
      return [];
    } catch (error) {
      return [`${at}: ${(error as Error).message}`];
    }
  });
  expect(refused).toEqual([]);
});

describe('alerts', () => {
  it.each(alerts.map((rule) => [rule.alert!, rule] as const))(
    '%s says how bad it is, since when, and what to do',
    (name, rule) => {
      expect(name).toMatch(/^Hindcast[A-Z]\w+$/);
      expect(rule.for).toMatch(/^\d+[mh]$/);
      expect(['critical', 'warning', 'info']).toContain(rule.labels?.['severity']);
      expect(Object.keys(rule.annotations ?? {})).toEqual(['summary', 'description', 'runbook']);
      expect(rule.annotations!['runbook']).toBe(`docs/monitoring.md#${name.toLowerCase()}`);
    },
  );

  it.each(alerts.map((rule) => [rule.alert!, rule] as const))(
    '%s mentions only labels that it has',
    (_, { expr, annotations, labels }) => {
      const { selectors, groupings } = parseQuery(expr);
      // An alert without an aggregation keeps the labels of its series.
      const kept =
        groupings.length > 0 ? groupings.flatMap((grouping) => grouping.labels) : ['job', 'pod', 'app', 'namespace'];
      const recorded = selectors.flatMap(({ metric }) =>
        metric.includes(':') ? metric.split(':')[0]!.split('_') : [],
      );
      const mentioned = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
      const has = new Set([...(recorded.length > 0 ? recorded : kept), ...Object.keys(labels ?? {})]);
      expect(mentioned.filter((label) => !has.has(label))).toEqual([]);
    },
  );

  it('each has its section in docs/monitoring.md, and no other has one', () => {
    const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    const sections = [...page.matchAll(/^### (\w+)\n\n(\S.*)/gm)].map(([, name]) => name);
    expect(sections).toEqual([...new Set(alerts.map(({ alert }) => alert))]);
  });

  it('each recorded series stands there too', () => {
    const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `([\w]+:[\w:]+)`/gm)].map(([, name]) => name);
    expect(listed).toEqual(rulesOf(ruleFile('recording-rules')).map(({ record }) => record));
  });
});

describe.each(dashboards())('dashboard %s', (file, dashboard) => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  it('is found by its own name, and holds no id of an installation', () => {
    expect(dashboard).not.toHaveProperty('id');
    expect(dashboard.uid).toBe(`hindcast-${file.replace('.json', '')}`);
    expect(dashboard.title).toMatch(/^Hindcast \/ /);
    expect(dashboard.description).toMatch(/\.$/);
    expect(dashboard.schemaVersion).toBeLessThanOrEqual(41);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'namespace']);
    const sources = [...JSON.stringify(dashboard).matchAll(/"datasource":(\{.*?"\})/g)].map(([, source]) => source);
    expect(new Set(sources)).toEqual(new Set(['{"type":"prometheus","uid":"${datasource}"}']));
  });

  it('every panel says what it shows, in which unit, of the chosen namespaces', () => {
    for (const { title, description = '', fieldConfig, targets = [], type } of panels) {
      expect([title, description]).toEqual([title, expect.stringMatching(/^\S.{20,}\.$/s)]);
      if (type !== 'heatmap') expect([title, fieldConfig?.defaults.unit]).toEqual([title, expect.any(String)]);
      expect([title, targets.length]).not.toEqual([title, 0]);
      for (const { expr } of targets)
        for (const { metric, matchers } of parseQuery(expr).selectors)
          expect([title, metric, matchers[0]]).toEqual([
            title,
            metric,
            { label: 'namespace', op: '=~', value: '$namespace' },
          ]);
    }
    expect(duplicates(panels.map(({ title }) => title))).toEqual([]);
    expect(duplicates(dashboard.panels.map(({ id }) => id))).toEqual([]);
  });

  it('no panel lies on another, or beyond the edge', () => {
    const overlapping = dashboard.panels.flatMap((one, i) =>
      dashboard.panels
        .slice(i + 1)
        .filter((other) => overlap(one, other))
        .map((other) => [one.title, other.title]),
    );
    expect(overlapping).toEqual([]);
    expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });
});

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

it('every dashboard becomes a ConfigMap', () => {
  const kustomization = readFileSync(join(root, 'k8s/components/monitoring/kustomization.yaml'), 'utf8');
  const used = [...kustomization.matchAll(/=dashboards\/(\S+\.json)/g)].map(([, file]) => file);
  expect(used.sort()).toEqual(
    dashboards()
      .map(([file]) => file)
      .sort(),
  );
});

// promtool is Prometheus' own judge of rules; Debian has it in the package prometheus.
const promtool = spawnSync('promtool', ['--version']).status === 0 ? it : it.skip;
promtool('promtool finds nothing wrong and passes the unit tests (skipped: there is no promtool on the PATH)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hindcast-rules-'));
  try {
    const rules = spawnSync(process.execPath, [join(root, 'tools/prometheus-rules.mjs')], { encoding: 'utf8' });
    writeFileSync(join(folder, 'rules.yaml'), rules.stdout);
    cpSync(join(root, 'k8s/components/monitoring/tests'), folder, { recursive: true });
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
      return { status, said: status === 0 ? '' : stdout + stderr };
    };
    expect(run('check', 'rules', 'rules.yaml')).toEqual({ status: 0, said: '' });
    expect(run('test', 'rules', 'alerts.test.yaml')).toEqual({ status: 0, said: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
