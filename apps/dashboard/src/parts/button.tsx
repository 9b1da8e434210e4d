// <Button kind="primary" isBusy={…}>: a busy button keeps its words and its focus, and does nothing.
import type { ButtonHTMLAttributes } from 'react';
import './button.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly isBusy?: boolean;
}

export function Button({
  kind = 'plain',
  isBusy = false,
  type = 'button',
  onClick,
  className = '',
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={`button ${className}`}
      data-kind={kind}
      aria-disabled={isBusy || undefined}
      onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    />
  );
}
