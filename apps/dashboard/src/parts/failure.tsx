// <Failure failure={…} what="The turns could not be read" again={…} />: what happened, and a button to try again.
import type { AskFailure } from '../api/ask';
import { Button } from './button';
import './failure.css';

export interface FailureProps {
  readonly failure: AskFailure | Error;
  /** A sentence without its full stop. */
  readonly what: string;
  readonly again?: (() => void) | undefined;
  readonly isAsking?: boolean;
}

export function Failure({ failure, what, again, isAsking = false }: FailureProps) {
  const code = 'code' in failure ? failure.code : null;
  return (
    <div className="failure" role="alert">
      <p className="failure-what">{what}.</p>
      <p>
        {failure.message} {code !== null && <code>{code}</code>}
      </p>
      {again !== undefined && (
        <Button onClick={again} isBusy={isAsking}>
          Try again
        </Button>
      )}
    </div>
  );
}
