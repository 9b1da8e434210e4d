import { FUNCTIONS, type ValueType } from './promql-functions';
import { lex, type Token } from './promql-lexer';

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[];
}

/** Labels that an aggregation or a matching names, and the selectors of which at least one has to have each. */
export interface Grouping {
  readonly labels: readonly string[];
  readonly over: readonly Selector[];
}

export interface Query {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly Grouping[];
}

interface Node {
  readonly type: ValueType;
  readonly selectors: readonly Selector[];
}

const AGGREGATIONS: Readonly<Record<string, 'scalar' | 'string' | null>> = {
  sum: null,
  min: null,
  max: null,
  avg: null,
  group: null,
  stddev: null,
  stdvar: null,
  count: null,
  count_values: 'string',
  bottomk: 'scalar',
  topk: 'scalar',
  quantile: 'scalar',
};
/** Operators by how tightly they bind; of one line, from left to right. */
const PRECEDENCE: readonly (readonly string[])[] = [
  ['or'],
  ['and', 'unless'],
  ['==', '!=', '<=', '<', '>=', '>'],
  ['+', '-'],
  ['*', '/', '%', 'atan2'],
];
const SETS: ReadonlySet<string> = new Set(['or', 'and', 'unless']);
const COMPARISONS: ReadonlySet<string> = new Set(PRECEDENCE[2]);

/**
 * Reads a PromQL expression as Prometheus 2 does, with the types of its parts, and says which series and labels it speaks of.
 *
 * @throws SyntaxError with the position of what is wrong
 */
export function parseQuery(text: string): Query {
  const parser = new Parser(text);
  const { selectors } = parser.whole();
  return { selectors, groupings: parser.groupings };
}

class Parser {
  readonly groupings: Grouping[] = [];
  private readonly tokens: readonly Token[];
  private next = 0;

  constructor(text: string) {
    this.tokens = lex(text);
  }

  whole(): Node {
    const node = this.binary(0);
    if (this.next < this.tokens.length) this.fail('the end');
    if (node.type === 'matrix') throw new SyntaxError('a range is no result: it needs a function');
    return node;
  }

  private binary(level: number): Node {
    const operators = PRECEDENCE[level];
    if (!operators) return this.unary();
    let left = this.binary(level + 1);
    for (let operator = this.operator(operators); operator !== null; operator = this.operator(operators)) {
      const isBool = COMPARISONS.has(operator) && this.takeWord('bool');
      const matching = this.matching();
      left = this.combined(operator, left, this.binary(level + 1), { isBool, matching });
    }
    return left;
  }

  private combined(
    operator: string,
    left: Node,
    right: Node,
    { isBool, matching }: { isBool: boolean; matching: readonly string[] | null },
  ): Node {
    const types = [left.type, right.type];
    if (types.some((type) => type !== 'scalar' && type !== 'vector'))
      throw new SyntaxError(`${operator} is not for a ${types.find((type) => type === 'matrix') ?? 'string'}`);
    const areScalars = types.every((type) => type === 'scalar');
    if (SETS.has(operator) && types.includes('scalar'))
      throw new SyntaxError(`${operator} needs vectors on both sides`);
    if (areScalars && COMPARISONS.has(operator) && !isBool) throw new SyntaxError('scalars are compared with bool');
    if (matching !== null) {
      if (types.includes('scalar')) throw new SyntaxError('only vectors are matched by labels');
      for (const { selectors } of [left, right]) this.groupings.push({ labels: matching, over: selectors });
    }
    return { type: areScalars ? 'scalar' : 'vector', selectors: [...left.selectors, ...right.selectors] };
  }

  /** `on (…)` with what follows it; `ignoring` names labels that may be missing. */
  private matching(): readonly string[] | null {
    const isOn = this.takeWord('on');
    if (!isOn && !this.takeWord('ignoring')) return null;
    const labels = this.labels();
    if (this.takeWord('group_left') || this.takeWord('group_right')) if (this.peek()?.text === '(') this.labels();
    return isOn ? labels : [];
  }

  private unary(): Node {
    if (this.take('-') || this.take('+')) return this.unary();
    const base = this.postfix(this.primary());
    return this.take('^') ? this.combined('^', base, this.unary(), { isBool: false, matching: null }) : base;
  }

  private primary(): Node {
    const token = this.tokens[this.next];
    if (!token) return this.fail('an expression');
    if (token.kind === 'number') return this.literal('scalar');
    if (token.kind === 'string') return this.literal('string');
    if (this.take('(')) {
      const inner = this.binary(0);
      this.expect(')');
      return inner;
    }
    if (token.text === '{') return this.selector('');
    if (token.kind !== 'word') return this.fail('an expression');
    this.next++;
    const after = this.peek()?.text;
    if (Object.hasOwn(AGGREGATIONS, token.text) && (after === '(' || after === 'by' || after === 'without'))
      return this.aggregation(token.text);
    return after === '(' ? this.call(token.text) : this.selector(token.text);
  }

  private literal(type: 'scalar' | 'string'): Node {
    this.next++;
    return { type, selectors: [] };
  }

  private selector(metric: string): Node {
    const matchers: { label: string; op: string; value: string }[] = [];
    if (this.take('{')) {
      while (!this.take('}')) {
        const label = this.word('a label');
        const op = this.tokens[this.next++]?.text ?? '';
        if (!['=', '!=', '=~', '!~'].includes(op)) this.fail('=, !=, =~ or !~', this.next - 1);
        const value = this.tokens[this.next++];
        if (value?.kind !== 'string') return this.fail('a string', this.next - 1);
        matchers.push({ label, op, value: value.text });
        if (!this.take(',') && this.peek()?.text !== '}') this.fail(', or }');
      }
    }
    const selector = { metric, matchers };
    if (metric === '' && matchers.length === 0) this.fail('a matcher');
    return { type: 'vector', selectors: [selector] };
  }

  /** Ranges, subqueries, `offset` and `@`. */
  private postfix(node: Node): Node {
    let { type } = node;
    for (;;) {
      if (this.take('[')) {
        if (type !== 'vector') throw new SyntaxError('only a vector has a range');
        this.duration();
        if (this.take(':') && this.peek()?.text !== ']') this.duration();
        this.expect(']');
        type = 'matrix';
      } else if (this.takeWord('offset')) {
        this.take('-');
        this.duration();
      } else if (this.take('@')) this.next++;
      else return { ...node, type };
    }
  }

  private aggregation(name: string): Node {
    let by = this.grouping();
    this.expect('(');
    const parameter = AGGREGATIONS[name]!;
    if (parameter !== null) {
      this.typed(this.binary(0), parameter, name);
      this.expect(',');
    }
    const operand = this.typed(this.binary(0), 'vector', name);
    this.expect(')');
    by ??= this.grouping();
    if (by !== null) this.groupings.push({ labels: by, over: operand.selectors });
    return { type: 'vector', selectors: operand.selectors };
  }

  private grouping(): readonly string[] | null {
    return this.takeWord('by') || this.takeWord('without') ? this.labels() : null;
  }

  private call(name: string): Node {
    const signature = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!signature) throw new SyntaxError(`${name} is no function of PromQL`);
    const { takes, optional = 0, gives } = signature;
    this.expect('(');
    const given: Node[] = [];
    while (!this.take(')')) {
      const type = takes[Math.min(given.length, takes.length - 1)];
      if (type === undefined || (given.length >= takes.length && optional !== Infinity))
        throw new SyntaxError(`${name} takes ${takes.length} at most`);
      given.push(this.typed(this.binary(0), type, name));
      if (!this.take(',') && this.peek()?.text !== ')') this.fail(', or )');
    }
    if (given.length < takes.length - (optional === Infinity ? 1 : optional))
      throw new SyntaxError(`${name} takes more than ${given.length}`);
    return { type: gives, selectors: given.flatMap(({ selectors }) => selectors) };
  }

  private typed(node: Node, type: ValueType, taker: string): Node {
    if (node.type !== type) throw new SyntaxError(`${taker} takes a ${type}, not a ${node.type}`);
    return node;
  }

  private labels(): readonly string[] {
    this.expect('(');
    const labels: string[] = [];
    while (!this.take(')')) {
      labels.push(this.word('a label'));
      if (!this.take(',') && this.peek()?.text !== ')') this.fail(', or )');
    }
    return labels;
  }

  private operator(among: readonly string[]): string | null {
    const token = this.peek();
    if (!token || token.kind === 'string' || !among.includes(token.text)) return null;
    this.next++;
    return token.text;
  }

  private duration(): void {
    if (this.tokens[this.next++]?.kind !== 'duration') this.fail('a duration', this.next - 1);
  }

  private word(what: string): string {
    const token = this.tokens[this.next++];
    return token?.kind === 'word' ? token.text : this.fail(what, this.next - 1);
  }

  private peek(): Token | undefined {
    return this.tokens[this.next];
  }

  private take(text: string): boolean {
    const token = this.peek();
    if (token?.kind !== 'mark' || token.text !== text) return false;
    this.next++;
    return true;
  }

  private takeWord(text: string): boolean {
    const token = this.peek();
    if (token?.kind !== 'word' || token.text !== text) return false;
    this.next++;
    return true;
  }

  private expect(text: string): void {
    if (!this.take(text)) this.fail(text);
  }

  private fail(expected: string, index = this.next): never {
    const token = this.tokens[index];
    throw new SyntaxError(`expected ${expected}, found ${token ? `${token.text} at ${token.at}` : 'the end'}`);
  }
}
