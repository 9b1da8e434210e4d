import type { DeadLetterRow } from '@hindcast/contracts';
import { useId, useState, type FormEvent } from 'react';
import { Button } from '../../parts/button';
import { Field } from '../../parts/field';

export type Filters = Readonly<Record<'code' | 'subject' | 'tenant', string>>;

export interface LetterFiltersProps {
  readonly filters: Filters;
  /** What they have is proposed. */
  readonly letters: readonly DeadLetterRow[];
  readonly onChange: (filters: Filters) => void;
}

const NAMES = ['code', 'subject', 'tenant'] as const;
const LABELS = { code: 'Code', subject: 'Subject', tenant: 'Tenant' } as const;
const EXAMPLES = { code: 'handler-failed', subject: 'as a letter shows it', tenant: 'default' } as const;

export function LetterFilters({ filters, letters, onChange }: LetterFiltersProps) {
  const id = useId();
  const [typed, setTyped] = useState(filters);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange({ code: typed.code.trim(), subject: typed.subject.trim(), tenant: typed.tenant.trim() });
  };
  const isFiltered = NAMES.some((name) => filters[name] !== '');
  return (
    <form className="letter-filters" role="search" aria-label="Dead letters" onSubmit={submit}>
      {NAMES.map((name) => (
        <Field key={name} label={LABELS[name]}>
          {(props) => (
            <>
              <input
                {...props}
                list={`${id}-${name}`}
                value={typed[name]}
                placeholder={EXAMPLES[name]}
                spellCheck={false}
                onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
              />
              <datalist id={`${id}-${name}`}>
                {[...new Set(letters.map((letter) => letter[name]))].sort().map((value) => (
                  <option key={value} value={value} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      ))}
      <div className="letter-actions">
        <Button type="submit">Filter</Button>
        {isFiltered && (
          <Button kind="quiet" onClick={() => onChange({ code: '', subject: '', tenant: '' })}>
            Show all
          </Button>
        )}
      </div>
    </form>
  );
}
