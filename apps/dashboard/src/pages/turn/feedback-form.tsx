import { useId, useState, type FormEvent } from 'react';
import type { Feedback } from '@hindcast/contracts';
import { useOrder } from '../../api/use-order';
import { announce } from '../../layout/announcer';
import { Button } from '../../parts/button';
import { Failure } from '../../parts/failure';
import { Field } from '../../parts/field';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { Score } from '../../parts/turn-badges';

const REWARDS = [
  { value: -1, label: '−1', meaning: 'it failed' },
  { value: 0, label: '0', meaning: 'cannot say' },
  { value: 1, label: '+1', meaning: 'it worked' },
] as const;

const OUTCOMES = {
  accepted: 'Accepted: it counts when the turn is decided.',
  late: 'Recorded, but late: the turn is decided already, or cannot be trained.',
} as const;

export interface FeedbackFormProps {
  readonly turnId: string;
  readonly feedback: Feedback | null;
  /** It cannot change anything any more: the turn is decided, or never will be. */
  readonly isLate: boolean;
  readonly again: () => void;
}

/** Says what a person thinks of the answer. */
export function FeedbackForm({ turnId, feedback, isLate, again }: FeedbackFormProps) {
  const [reward, setReward] = useState<number | null>(null);
  const [comment, setComment] = useState('');
  const [correction, setCorrection] = useState('');
  const why = useId();
  const order = useOrder<{ status: keyof typeof OUTCOMES }>();
  const outcome = order.result === null ? null : (OUTCOMES[order.result.status] ?? order.result.status);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (reward === null) return;
    const body = { reward, ...(comment !== '' && { comment }), ...(correction !== '' && { correction }) };
    const result = await order.give(`/admin/v1/turns/${encodeURIComponent(turnId)}/feedback`, body);
    if (result === null) return;
    setReward(null);
    setComment('');
    setCorrection('');
    announce(OUTCOMES[result.status] ?? result.status);
    again();
  };

  return (
    <Section title="Feedback">
      {feedback !== null && (
        <div className="feedback-given">
          <p>
            Given: <Score value={feedback.reward} /> <Time at={feedback.at} />
          </p>
          {feedback.comment !== null && <p>{feedback.comment}</p>}
          {feedback.correction !== null && <p>Correction: {feedback.correction}</p>}
        </div>
      )}
      {isLate && (
        <p className="muted">
          This turn is decided already, or cannot be trained: feedback is recorded, but no longer changes what is
          trained.
        </p>
      )}
      <form className="feedback" onSubmit={(event) => void submit(event)}>
        <fieldset>
          <legend>How was the answer?</legend>
          {REWARDS.map(({ value, label, meaning }) => (
            <label key={value}>
              <input
                type="radio"
                name="reward"
                value={value}
                checked={reward === value}
                onChange={() => setReward(value)}
                required
              />
              {label} <span className="muted">{meaning}</span>
            </label>
          ))}
        </fieldset>
        <Field label="Comment">
          {(props) => (
            <textarea
              {...props}
              rows={2}
              maxLength={10_000}
              value={comment}
              onChange={({ target }) => setComment(target.value)}
            />
          )}
        </Field>
        <Field label="Correction" hint="What the answer should have been. It becomes the hint for the teacher.">
          {(props) => (
            <textarea
              {...props}
              rows={2}
              maxLength={10_000}
              value={correction}
              onChange={({ target }) => setCorrection(target.value)}
            />
          )}
        </Field>
        <div className="feedback-foot">
          <Button
            type="submit"
            kind="primary"
            isBusy={order.isRunning}
            disabled={reward === null}
            aria-describedby={reward === null && outcome === null ? why : undefined}
          >
            Send feedback
          </Button>
          {reward === null && outcome === null && (
            <p id={why} className="muted">
              Choose first how the answer was.
            </p>
          )}
          {outcome !== null && (
            <p data-outcome={order.result?.status} className="feedback-outcome">
              {outcome}
            </p>
          )}
        </div>
        {order.failure !== null && <Failure failure={order.failure} what="The feedback was not taken" />}
      </form>
    </Section>
  );
}
