// <Answered answer={useAnswer<TurnsPage>(…)} what="the turns">{(page) => …}</Answered>: loading, failure with a retry, or the data.
// Old data stays on the page, with a note above it, when asking again failed.
import type { ReactNode } from 'react';
import type { Answer } from '../api/use-answer';
import { Failure } from './failure';
import { Loading } from './loading';

export interface AnsweredProps<T> {
  readonly answer: Answer<T>;
  /** Ends “Loading …” and begins “… could not be read”: “the turns”. */
  readonly what: string;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}

export function Answered<T>({ answer, what, lines = 4, children }: AnsweredProps<T>) {
  const { data, failure, isAsking, again } = answer;
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)} could not be read`;
  return (
    <>
      {failure !== null && (
        <Failure
          failure={failure}
          what={data === null ? sentence : `${sentence}; what is shown is older`}
          again={again}
          isAsking={isAsking}
        />
      )}
      {data === null && failure === null && <Loading what={`Loading ${what}`} lines={lines} />}
      {data !== null && children(data)}
    </>
  );
}
