import type { CurrentPolicy } from '@hindcast/contracts';
import { useState } from 'react';
import { useOrder } from '../../api/use-order';
import { takenBack, versionsText, type TimelineEntry } from '../../core/version-timeline';
import { announce } from '../../layout/announcer';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Failure } from '../../parts/failure';
import { Field } from '../../parts/field';
import { nameOf } from './version-table';

export interface RollBackDialogProps {
  /** `null`: closed. */
  readonly target: TimelineEntry | null;
  readonly timeline: readonly TimelineEntry[];
  readonly current: CurrentPolicy;
  readonly onClose: () => void;
  readonly onWished: (id: string) => void;
}

const REASON_LENGTH = 500;

/** Says what a roll-back means, and orders it. */
export function RollBackDialog({ target, timeline, current, onClose, onWished }: RollBackDialogProps) {
  const [reason, setReason] = useState('');
  const order = useOrder<{ readonly id: string }>();
  const close = (): void => {
    setReason('');
    order.forget();
    onClose();
  };
  const confirm = async (version: number): Promise<void> => {
    const body = { version, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) };
    const wish = await order.give('/admin/v1/policies/rollback', body);
    if (wish === null) return;
    announce('The wish to roll back is written down');
    close();
    onWished(wish.id);
  };
  return (
    <Dialog
      title={target === null ? 'Roll back' : `Roll back to ${nameOf(target)}?`}
      isOpen={target !== null}
      onClose={close}
      actions={
        target !== null && (
          <Button kind="danger" isBusy={order.isRunning} onClick={() => void confirm(target.row.version)}>
            Roll back
          </Button>
        )
      }
    >
      {target !== null && (
        <>
          <Meaning target={target} timeline={timeline} current={current} />
          <Field label="Reason (optional)" hint="Stands in the versions’ manifests and in the timeline.">
            {(props) => (
              <textarea
                {...props}
                rows={2}
                maxLength={REASON_LENGTH}
                value={reason}
                onChange={({ target: { value } }) => setReason(value)}
              />
            )}
          </Field>
          {order.failure !== null && <Failure failure={order.failure} what="The wish could not be written down" />}
        </>
      )}
    </Dialog>
  );
}

function Meaning({
  target,
  timeline,
  current,
}: Pick<RollBackDialogProps, 'timeline' | 'current'> & { readonly target: TimelineEntry }) {
  const name = nameOf(target);
  const lost = takenBack(timeline, target.row.version);
  return (
    <ul className="roll-back-meaning">
      <li>
        {name.charAt(0).toUpperCase() + name.slice(1)} answers every session again, once an engine has loaded it. Until
        then version {current.version} goes on serving.
      </li>
      {lost.length > 0 && (
        <li>
          {lost.length === 1 ? 'Version' : 'Versions'} {versionsText(lost)} will be recorded as rolled back and never
          serve again{current.canary === null ? '' : '; the trial ends'}.
        </li>
      )}
      <li>The turns they were trained on count as trained; they are not trained again.</li>
      <li>The next step starts from {name}.</li>
    </ul>
  );
}
