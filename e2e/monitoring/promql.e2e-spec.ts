import { parseQuery } from './promql';

const metrics = (text: string): string[] => parseQuery(text).selectors.map(({ metric }) => metric);

it.each([
  ['up', ['up']],
  ['sum by (a, b) (rate(x_total{c="d"}[5m]))', ['x_total']],
  ['sum(rate(x_total[$__rate_interval])) by (a) / on (a) group_left sum without (b) (y)', ['x_total', 'y']],
  ['histogram_quantile(0.95, sum by (le) (rate(x_seconds_bucket[5m])))', ['x_seconds_bucket']],
  ['vllm:num_requests_running{model_name=~"a|b"} > 0', ['vllm:num_requests_running']],
  ['namespace:x:rate5m offset 1h - namespace:x:rate5m @ 1700000000', ['namespace:x:rate5m', 'namespace:x:rate5m']],
  ['max_over_time(rate(x_total[5m])[1h:1m])', ['x_total']],
  ['max_over_time(x[1h:])', ['x']],
  ['time() - x > 6 * 3600 unless on (a) -y ^ 2 == bool 1', ['x', 'y']],
  ['topk(3, x) or vector(0)', ['x']],
  ['{__name__="x"} # a comment', ['']],
  ['label_replace(x, "a", "$1", "b", "(.*)")', ['x']],
  ['x{a="}", b=\'"\',} + 1e3 + .5 + Inf', ['x']],
  ['sum_x', ['sum_x']],
  ['by', ['by']],
])('reads %s', (text, expected) => {
  expect(metrics(text)).toEqual(expected);
});

it.each([
  ['', 'expected an expression, found the end'],
  ['sum by (a (x)', 'expected , or ), found ( at 10'],
  ['rate(x)', 'rate takes a matrix, not a vector'],
  ['rate(x[5m]', 'expected , or ), found the end'],
  ['rate(x[5])', 'expected a duration, found 5'],
  ['sum(x[5m])', 'sum takes a vector, not a matrix'],
  ['x[5m]', 'a range is no result'],
  ['x{a}', 'expected =, !=, =~ or !~, found }'],
  ['x{a=b}', 'expected a string, found b'],
  ['x{a="b" c="d"}', 'expected , or }, found c'],
  ['x y', 'expected the end, found y at 2'],
  ['rat(x[5m])', 'rat is no function'],
  ['toString(x)', 'toString is no function'],
  ['histogram_quantile(x)', 'histogram_quantile takes a scalar, not a vector'],
  ['clamp_min(x)', 'clamp_min takes more than 1'],
  ['clamp_min(x, 1, 2)', 'clamp_min takes 2 at most'],
  ['x and 1', 'and needs vectors on both sides'],
  ['1 > 2', 'scalars are compared with bool'],
  ['x * on (a) 2', 'only vectors are matched by labels'],
  ['x > y[5m]', '> is not for a matrix'],
  ['x ~ y', 'cannot read "~ y"'],
  ['x{a="b}', 'cannot read'],
  ['{}', 'expected a matcher'],
])('refuses %s', (text, message) => {
  expect(() => parseQuery(text)).toThrow(message);
});

it('says which labels are named, and of which series', () => {
  const { selectors, groupings } = parseQuery(
    'sum by (a) (x{b=~"c.*"}) / on (d) group_left (e) max without (f) (y + z)',
  );
  expect(selectors[0]).toEqual({ metric: 'x', matchers: [{ label: 'b', op: '=~', value: 'c.*' }] });
  const named = groupings.map(({ labels, over }) => [labels.join(), over.map(({ metric }) => metric).join()]);
  expect(named).toEqual([
    ['a', 'x'],
    ['f', 'y,z'],
    ['d', 'x'],
    ['d', 'y,z'],
  ]);
});
