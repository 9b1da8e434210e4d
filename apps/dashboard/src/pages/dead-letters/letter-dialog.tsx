import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import type { Letter } from '../../core/letter-key';

export interface Confirmation {
  readonly kind: 'discard' | 'force';
  readonly letter: Letter;
}

export interface LetterDialogProps {
  /** `null`: closed. */
  readonly confirmation: Confirmation | null;
  readonly onClose: () => void;
  readonly onConfirm: (confirmation: Confirmation) => void;
}

/** Asks before what cannot be taken back. */
export function LetterDialog({ confirmation, onClose, onConfirm }: LetterDialogProps) {
  const isDiscard = confirmation?.kind === 'discard';
  const sequence = confirmation?.letter.sequence;
  return (
    <Dialog
      title={isDiscard ? `Discard letter ${sequence}?` : `Replay letter ${sequence} all the same?`}
      isOpen={confirmation !== null}
      onClose={onClose}
      actions={
        <Button kind="danger" onClick={() => confirmation !== null && onConfirm(confirmation)}>
          {isDiscard ? 'Discard' : 'Replay'}
        </Button>
      }
    >
      {isDiscard ? (
        <>
          <p>The message is deleted and cannot be brought back.</p>
          <p>What the ledger decided about its turn stays as it is.</p>
        </>
      ) : (
        <>
          <p>
            The message still breaks its contract: every handler of its subject will refuse it, and it becomes a dead
            letter again.
          </p>
          <p>Do it when a service that understands the message has been started since.</p>
        </>
      )}
    </Dialog>
  );
}
