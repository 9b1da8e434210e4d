export type ValueType = 'scalar' | 'vector' | 'matrix' | 'string';

interface Signature {
  readonly takes: readonly ValueType[];
  /** So many of the last arguments may be left out; `Infinity`: the last one any number of times. */
  readonly optional?: number;
  readonly gives: ValueType;
}

const each = (names: string, signature: Signature): Record<string, Signature> =>
  Object.fromEntries(names.split(' ').map((name) => [name, signature]));

/** The functions of Prometheus 2 that rules and dashboards may use. */
export const FUNCTIONS: Readonly<Record<string, Signature>> = {
  ...each('rate irate increase delta idelta deriv changes resets', { takes: ['matrix'], gives: 'vector' }),
  ...each(
    'avg_over_time min_over_time max_over_time sum_over_time count_over_time last_over_time present_over_time stddev_over_time absent_over_time',
    { takes: ['matrix'], gives: 'vector' },
  ),
  ...each('quantile_over_time', { takes: ['scalar', 'matrix'], gives: 'vector' }),
  ...each('predict_linear', { takes: ['matrix', 'scalar'], gives: 'vector' }),
  ...each('abs absent ceil exp floor ln log2 log10 sgn sort sort_desc sqrt timestamp', {
    takes: ['vector'],
    gives: 'vector',
  }),
  ...each('clamp', { takes: ['vector', 'scalar', 'scalar'], gives: 'vector' }),
  ...each('clamp_min clamp_max', { takes: ['vector', 'scalar'], gives: 'vector' }),
  ...each('round', { takes: ['vector', 'scalar'], optional: 1, gives: 'vector' }),
  ...each('histogram_quantile', { takes: ['scalar', 'vector'], gives: 'vector' }),
  ...each('label_replace', { takes: ['vector', 'string', 'string', 'string', 'string'], gives: 'vector' }),
  ...each('label_join', { takes: ['vector', 'string', 'string', 'string'], optional: Infinity, gives: 'vector' }),
  ...each('time pi', { takes: [], gives: 'scalar' }),
  ...each('scalar', { takes: ['vector'], gives: 'scalar' }),
  ...each('vector', { takes: ['scalar'], gives: 'vector' }),
};
