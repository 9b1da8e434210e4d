import { counted } from '../../core/number';
import { latency } from '../../core/time';
import { Badge } from '../../parts/badge';
import type { ChatState } from './use-chat';

export interface ComparedAnswerProps {
  readonly side: string;
  readonly state: ChatState;
  /** Who was asked, as it was called then: what serves now is another matter. */
  readonly label: string;
}

/** An answer as it comes, with who gave it, its tokens, and what went wrong. */
export function ComparedAnswer({ side, state, label }: ComparedAnswerProps) {
  const { asked, model, text, reasoning, isRunning, failure, error } = state;
  if (asked === null) return null;
  const isAnother = model !== null && model !== asked;
  return (
    <section className="compared" aria-label={`${side} answer`} aria-busy={isRunning}>
      <h3>{label.replace(/^version/, 'Version')}</h3>
      {isAnother && (
        <p>
          <Badge tone="warn">answered by {model}</Badge>{' '}
          <span className="muted">not by the model that was asked for.</span>
        </p>
      )}
      {reasoning !== '' && (
        <details>
          <summary>Thought first</summary>
          <div className="compared-text muted">{reasoning}</div>
        </details>
      )}
      <div className="compared-text">
        {text}
        {isRunning && <span className="compared-cursor" aria-hidden="true" />}
      </div>
      {text === '' && !isRunning && failure === null && error === null && <p className="muted">The answer is empty.</p>}
      {(failure ?? error) !== null && (
        <p className="compared-failure" role="alert">
          {failure ?? error}
        </p>
      )}
      <p className="muted number" role="status">
        {isRunning ? 'Answering…' : summary(state)}
      </p>
    </section>
  );
}

function summary({ promptTokens, completionTokens, finishReason, tookMs }: ChatState): string {
  return [
    completionTokens === null ? 'tokens not counted by the engine' : counted(completionTokens, 'token'),
    promptTokens === null ? '' : `after ${counted(promptTokens, 'token')} of prompt`,
    finishReason === null ? '' : `ended by ${finishReason}`,
    tookMs === null ? '' : latency(tookMs),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
