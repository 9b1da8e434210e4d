import { useEffect, useEffectEvent, useState } from 'react';
import { CASES, STATES } from '../../core/turn-words';
import { Button } from '../../parts/button';
import { Field } from '../../parts/field';

export const FILTERS = ['state', 'case', 'reason', 'session', 'tenant', 'version', 'text'] as const;
export type FilterName = (typeof FILTERS)[number];
type Query = Readonly<Record<FilterName | 'before', string>>;
type SetQuery = (change: Partial<Record<FilterName | 'before', string>>, options?: { replace?: boolean }) => void;

const TYPED = [
  { name: 'text', label: 'Text', hint: 'all these words', pattern: undefined, form: undefined },
  { name: 'reason', label: 'Reason', hint: 'stale, or teacher:*', pattern: undefined, form: undefined },
  { name: 'tenant', label: 'Tenant', hint: undefined, pattern: undefined, form: undefined },
  {
    name: 'session',
    label: 'Session',
    hint: undefined,
    pattern: '[0-9a-f]{16,64}',
    form: 'a hash of 16 to 64 digits and letters a to f',
  },
  { name: 'version', label: 'Version', hint: undefined, pattern: '[0-9]{1,15}', form: 'a whole number' },
] as const;

/** Filters of the list, kept in the address. A change begins at the newest turn again. */
export function TurnFilters({ query, setQuery }: { readonly query: Query; readonly setQuery: SetQuery }) {
  const choose = (name: FilterName, value: string, options?: { replace: boolean }): void =>
    setQuery({ [name]: value, before: '' }, options);
  // Grows when all is cleared: also what was typed and did not fit, which the address does not have.
  const [cleared, setCleared] = useState(0);
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
      {TYPED.map(({ name, label, hint, pattern, form }) => (
        <TypedFilter
          key={`${name} ${cleared}`}
          label={label}
          hint={hint}
          pattern={pattern}
          form={form}
          value={query[name]}
          onChange={(value) => choose(name, value, { replace: true })}
        />
      ))}
      <Button
        kind="quiet"
        onClick={() => {
          setCleared(cleared + 1);
          setQuery(none);
        }}
      >
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
  /** What `pattern` stands for, in words. */
  readonly form: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const TYPING_PAUSE_MS = 400;

/** Takes effect a moment after the last key, with Enter, or when it is left. What does not fit filters nothing, and says so. */
function TypedFilter({ label, hint, pattern, form, value, onChange }: TypedFilterProps) {
  const [typed, setTyped] = useState(value);
  const [applied, setApplied] = useState(value);
  const fits = pattern === undefined || typed.trim() === '' || new RegExp(`^(${pattern})$`).test(typed.trim());
  const wanted = fits ? typed.trim() : '';
  if (applied !== value) {
    setApplied(value);
    // What comes from elsewhere (a link, a step back) replaces what is in the field.
    if (value !== wanted) setTyped(value);
  }
  const apply = useEffectEvent((): void => {
    if (wanted !== value) onChange(wanted);
  });
  useEffect(() => {
    const timer = setTimeout(() => apply(), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const applyNow = (): void => {
    if (wanted !== value) onChange(wanted);
  };
  return (
    <Field label={label} failure={fits ? null : `${form}; the list is not filtered by it`}>
      {(props) => (
        <input
          {...props}
          type="search"
          maxLength={200}
          placeholder={hint}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={({ key }) => key === 'Enter' && applyNow()}
          onBlur={applyNow}
        />
      )}
    </Field>
  );
}
