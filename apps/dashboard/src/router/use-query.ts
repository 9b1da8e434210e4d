// The query of the address as the state of a page: `const [query, setQuery] = useQuery(['state', 'text'])`.
import { useCallback, useMemo } from 'react';
import { withQuery } from '../core/route';
import { navigate, useLocation } from './location';

export type Query<Name extends string> = Readonly<Record<Name, string>>;
type SetQuery<Name extends string> = (change: Partial<Record<Name, string>>, options?: { replace?: boolean }) => void;

/** Values of these parameters (empty where there is none), and a setter that changes some of them. */
export function useQuery<Name extends string>(names: readonly Name[]): readonly [Query<Name>, SetQuery<Name>] {
  const { path, search } = useLocation();
  const key = names.join(' ');
  const query = useMemo(() => {
    const params = new URLSearchParams(search);
    return Object.fromEntries(key.split(' ').map((name) => [name, params.get(name) ?? ''])) as Record<Name, string>;
  }, [search, key]);
  const set = useCallback<SetQuery<Name>>(
    (change, options) => navigate(withQuery(path, { ...query, ...change }), options),
    [path, query],
  );
  return [query, set];
}
