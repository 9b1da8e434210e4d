import { readExposition, type Exposition } from './exposition';
import { problemsOf } from './series-check';

const exposed: Exposition = new Map();
readExposition(
  [
    '# HELP x_total What x counts',
    '# TYPE x_total counter',
    'x_total{kind="a \\"} b",app="gateway"} 1',
    '',
    '# HELP x_seconds How long x takes',
    '# TYPE x_seconds histogram',
    'x_seconds_bucket{le="+Inf",app="gateway"} 2',
    'x_seconds_sum{app="gateway"} 3.5e-05',
    'x_seconds_count{app="gateway"} 2',
    '# HELP quiet_total What never happens',
    '# TYPE quiet_total counter',
  ].join('\n'),
  'gateway',
  exposed,
);
const known = {
  exposed,
  recorded: new Map([['namespace:x:rate5m', ['namespace']]]),
  unseen: { quiet_total: ['reason'], gone_total: ['reason'] },
};

it.each([
  'sum by (kind, app, namespace) (rate(x_total{pod="p"}[5m]))',
  'histogram_quantile(0.9, sum by (le) (rate(x_seconds_bucket[5m]))) + x_seconds_sum / x_seconds_count',
  'increase(quiet_total{reason="r"}[5m])',
  'namespace:x:rate5m > on (namespace) sum by (namespace) (x_total)',
  'up{job="gateway"} == 0',
  'sum by (kind) (x_total or x_seconds_count)',
  'time() - 1',
])('finds nothing wrong with %s', (expr) => {
  expect(problemsOf(expr, known)).toEqual([]);
});

it.each([
  ['y_total', 'no metric y_total'],
  ['x_seconds', 'no metric x_seconds'],
  ['gone_total', 'no metric gone_total'],
  ['x_total{sort="a"}', 'no label sort on x_total'],
  ['sum by (sort) (x_total)', 'no label sort on x_total'],
  ['sum by (kind) (x_seconds_count)', 'no label kind on x_seconds_count'],
  ['namespace:x:rate5m{pod="p"}', 'no label pod on namespace:x:rate5m'],
  ['up * on (kind) x_total', 'no label kind on up'],
  ['{kind="a"}', 'no metric (without a name)'],
  ['sum by (kind', 'expected , or ), found the end'],
])('finds what is wrong with %s', (expr, problem) => {
  expect(problemsOf(expr, known)).toContain(problem);
});

it('a sample of a metric that is not declared is refused', () => {
  expect(() => readExposition('y_total 1', 'gateway', new Map())).toThrow('a sample of no known metric: y_total 1');
});
