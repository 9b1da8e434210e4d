import { useState } from 'react';
import { CASES, STATES } from '../../core/turn-words';
import { Button } from '../../parts/button';
import { Field } from '../../parts/field';

export const FILTERS = ['state', 'case', 'reason', 'session', 'tenant', 'version', 'text'] as const;
export type FilterName = (typeof FILTERS)[number];
type Query = Readonly<Record<FilterName | 'before', string>>;
type SetQuery = (change: Partial<Record<FilterName | 'before', string>>, options?: { replace?: boolean }) => void;

const TYPED = [
  { name: 'text', label: 'Text', hint: 'all these words', pattern: undefined },
  { name: 'reason', label: 'Reason', hint: 'stale, or teacher:*', pattern: undefined },
  { name: 'tenant', label: 'Tenant', hint: undefined, pattern: undefined },
  { name: 'session', label: 'Session', hint: undefined, pattern: '[0-9a-f]{16,64}' },
  { name: 'version', label: 'Version', hint: undefined, pattern: '[0-9]+' },
] as const;

/** Filters of the list, kept in the address. A change begins at the newest turn again. */
export function TurnFilters({ query, setQuery }: { readonly query: Query; readonly setQuery: SetQuery }) {
  const choose = (name: FilterName, value: string): void => setQuery({ [name]: value, before: '' });
  const isAny = FILTERS.some((name) => query[name] !== '');
  const none = Object.fromEntries([...FILTERS, 'before'].map((name) => [name, '']));
  return (
    <search className="turns-filters">
      <Field label="State">
        {(props) => (
          <select {...props} value={query.state} onChange={({ target }) => choose('state', target.value)}>
            <Options texts={STATES} />
          </select>
        )}
      </Field>
      <Field label="Case">
        {(props) => (
          <select {...props} value={query.case} onChange={({ target }) => choose('case', target.value)}>
            <Options texts={CASES} />
          </select>
        )}
      </Field>
      {TYPED.map(({ name, label, hint, pattern }) => (
        <TypedFilter
          key={name}
          label={label}
          hint={hint}
          pattern={pattern}
          value={query[name]}
          onChange={(value) => choose(name, value)}
        />
      ))}
      <Button kind="quiet" disabled={!isAny} onClick={() => setQuery(none)}>
        Clear filters
      </Button>
    </search>
  );
}

function Options({ texts }: { readonly texts: Readonly<Record<string, string>> }) {
  return (
    <>
      <option value="">any</option>
      {Object.entries(texts).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </>
  );
}

interface TypedFilterProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly pattern: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Takes effect with Enter, or when it is left. */
function TypedFilter({ label, hint, pattern, value, onChange }: TypedFilterProps) {
  const [typed, setTyped] = useState(value);
  const [applied, setApplied] = useState(value);
  if (applied !== value) {
    // What comes from elsewhere (a link, a step back) replaces what is in the field.
    setApplied(value);
    setTyped(value);
  }
  const fits = pattern === undefined || typed.trim() === '' || new RegExp(`^(${pattern})$`).test(typed.trim());
  const apply = (): void => {
    if (fits && typed.trim() !== value) onChange(typed.trim());
  };
  return (
    <Field label={label} failure={fits ? null : 'not of this form'}>
      {(props) => (
        <input
          {...props}
          type="search"
          maxLength={200}
          placeholder={hint}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={({ key }) => key === 'Enter' && apply()}
          onBlur={apply}
        />
      )}
    </Field>
  );
}
