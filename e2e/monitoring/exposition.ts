/** A metric as a service exposes it. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Apps that expose it. */
  readonly apps: Set<string>;
  /** Labels of its samples; empty while it has none. */
  readonly labels: Set<string>;
  samples: number;
}

/** Metrics by the names that a query may use: of a histogram its three series. */
export type Exposition = Map<string, Family>;

const PARTS: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/** Adds what `/metrics` of an app says. @throws Error for a sample without HELP and TYPE before it */
export function readExposition(text: string, app: string, into: Exposition): void {
  const help = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind === 'HELP') help.set(name, rest);
    else if (kind === 'TYPE') addFamily(name, rest, help.get(name) ?? '', app, into);
    else addSample(line, into);
  }
}

function addFamily(name: string, type: string, help: string, app: string, into: Exposition): void {
  const known = into.get(`${name}${PARTS[type]?.[0] ?? ''}`);
  if (known) return void known.apps.add(app);
  const family: Family = { name, type, help, apps: new Set([app]), labels: new Set(), samples: 0 };
  for (const part of PARTS[type] ?? ['']) into.set(name + part, family);
}

function addSample(line: string, into: Exposition): void {
  const [, name, labels = ''] = /^([\w:]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
  const family = into.get(name ?? '');
  if (!family) throw new Error(`a sample of no known metric: ${line}`);
  family.samples++;
  for (const [, label] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) family.labels.add(label!);
}
