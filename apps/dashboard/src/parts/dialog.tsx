// <Dialog title="Roll back?" isOpen onClose={…} actions={<Button …/>}>: the browser's own modal <dialog>, which traps the focus, closes
// with Escape and gives the focus back.
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { Button } from './button';
import './dialog.css';

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Beside “Cancel”. */
  readonly actions: ReactNode;
  readonly children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, actions, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (isOpen && element?.open === false) element.showModal();
    if (!isOpen && element?.open === true) element.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={id} onClose={onClose}>
      {isOpen && (
        <>
          <h2 id={id}>{title}</h2>
          <div className="dialog-text">{children}</div>
          <div className="dialog-actions">
            <Button onClick={onClose}>Cancel</Button>
            {actions}
          </div>
        </>
      )}
    </dialog>
  );
}
