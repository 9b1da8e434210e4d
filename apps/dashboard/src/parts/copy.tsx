// <Copy text={id} what="turn id">: a button that copies, and says that it did.
import { useEffect, useState } from 'react';
import { announce } from '../layout/announcer';
import './copy.css';

export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 2_000);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      announce(`Copied the ${what}`);
    } catch {
      announce(`The ${what} could not be copied`);
    }
  };
  return (
    <button type="button" className="copy" aria-label={`Copy the ${what}`} onClick={() => void copy()}>
      {isDone ? 'Copied' : 'Copy'}
    </button>
  );
}
