// <Field label="Comment" hint="…" failure={…}>{(props) => <input {...props} …/>}</Field>: label, hint and fault tied to one control.
import { useId, type ReactNode } from 'react';
import './field.css';

export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly failure?: string | null;
  readonly children: (props: ControlProps) => ReactNode;
}

export function Field({ label, hint, failure = null, children }: FieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, failure !== null && `${id}-failure`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': failure !== null || undefined })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {failure !== null && (
        <p id={`${id}-failure`} className="field-failure" role="alert">
          {failure}
        </p>
      )}
    </div>
  );
}
