import { useEffect, useRef, useState, type FormEvent } from 'react';
import { ask, AskFailure } from '../api/ask';
import { refusalText } from '../core/refusal-text';
import { acceptKey } from '../api/session-key';
import type { Session } from '../api/types';
import { Button } from '../parts/button';
import { Field } from '../parts/field';
import './sign-in.css';

/** Asks for an admin key, and keeps it only when the gateway takes it. */
export function SignIn({ why }: { readonly why: string }) {
  const [key, setKey] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setAsking(true);
    setFailure(null);
    try {
      await ask<Session>('/admin/v1/session', { key: key.trim() });
      acceptKey(key.trim());
    } catch (error) {
      setFailure(error instanceof AskFailure ? refusalText(error) : String(error));
      field.current?.focus();
      setAsking(false);
    }
  };
  return (
    <main className="alone">
      <form className="sign-in" onSubmit={(event) => void submit(event)}>
        <h1>Hindcast</h1>
        {/* One message at a time: why the key was not taken takes its place. */}
        {failure === null && why !== '' && <p>{why}</p>}
        <p>
          An administrator’s key opens the dashboard: one of <code>ADMIN_API_KEYS</code>, or of{' '}
          <code>API_KEYS_FILE</code> with <code>"admin": true</code>.
        </p>
        <Field label="Admin key" failure={failure}>
          {(props) => (
            <input
              {...props}
              ref={field}
              type="password"
              autoComplete="current-password"
              required
              value={key}
              onChange={({ target }) => setKey(target.value)}
            />
          )}
        </Field>
        <Button type="submit" kind="primary" isBusy={isAsking}>
          Sign in
        </Button>
        <p className="muted">The key is kept by this tab alone, and forgotten when it closes.</p>
      </form>
    </main>
  );
}
