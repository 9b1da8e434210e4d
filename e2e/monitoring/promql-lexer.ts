export interface Token {
  readonly kind: 'word' | 'number' | 'duration' | 'string' | 'mark';
  /** As written; of a string its value. */
  readonly text: string;
  /** Position of its first character. */
  readonly at: number;
}

const RULES: readonly (readonly [Token['kind'] | null, RegExp])[] = [
  [null, /\s+|#[^\n]*/y],
  ['duration', /(?:\d+(?:ms|[smhdwy]))+(?![\w])/y],
  ['number', /0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])|(?:Inf|NaN|inf|nan)(?!\w)/y],
  ['word', /[a-zA-Z_:][\w:]*/y],
  ['string', /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/y],
  ['mark', /=~|!~|==|!=|<=|>=|[-+*/%^<>=(){}[\],:@]/y],
];

/** What Grafana fills in where PromQL has a duration. */
const GRAFANA_DURATIONS = /\$(?:__rate_interval|__interval|__range)\b/g;

/** @throws SyntaxError where nothing can be read */
export function lex(text: string): Token[] {
  const query = text.replace(GRAFANA_DURATIONS, '5m');
  const tokens: Token[] = [];
  for (let at = 0; at < query.length;) {
    let length = 0;
    for (const [kind, pattern] of RULES) {
      pattern.lastIndex = at;
      const found = pattern.exec(query)?.[0];
      if (found === undefined) continue;
      length = found.length;
      // `[5m:1m]`: elsewhere a colon is part of a name.
      if (kind === 'word' && found.startsWith(':') && isInRange(tokens)) continue;
      if (kind !== null) tokens.push({ kind, text: kind === 'string' ? valueOf(found) : found, at });
      break;
    }
    if (length === 0) throw new SyntaxError(`cannot read ${JSON.stringify(query.slice(at, at + 10))} at ${at}`);
    at += length;
  }
  return tokens;
}

const valueOf = (literal: string): string =>
  literal.startsWith('`') ? literal.slice(1, -1) : literal.slice(1, -1).replace(/\\(.)/g, '$1');

function isInRange(tokens: readonly Token[]): boolean {
  const bracket = tokens.findLast(({ kind, text }) => kind === 'mark' && (text === '[' || text === ']'));
  return bracket?.text === '[';
}
