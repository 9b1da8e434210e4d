// <Button kind="primary" isBusy={…} disabled={…}>: a busy or disabled button does nothing, and keeps its words and the focus.
import type { ButtonHTMLAttributes } from 'react';
import './button.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly isBusy?: boolean;
}

export function Button({
  kind = 'plain',
  isBusy = false,
  disabled = false,
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
      aria-disabled={isBusy || disabled || undefined}
      aria-busy={isBusy || undefined}
      onClick={(event) => (isBusy || disabled ? event.preventDefault() : onClick?.(event))}
    />
  );
}
