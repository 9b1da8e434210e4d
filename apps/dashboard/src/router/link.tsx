// <Link to="/ui/turns">: an <a> that goes there without loading the page anew. Other clicks (new tab, download) stay the browser's.
import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { navigate, useLocation } from './location';

export interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  readonly to: string;
}

export function Link({ to, onClick, children, ...rest }: LinkProps) {
  const go = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={to} onClick={go}>
      {children}
    </a>
  );
}

/** A link of the navigation; tells that it is the page shown. `within`: paths below count, too. */
export function NavLink({ to, within = false, ...rest }: LinkProps & { readonly within?: boolean }) {
  const { path } = useLocation();
  const isHere = path === to || (within && path.startsWith(`${to}/`));
  return <Link {...rest} to={to} aria-current={isHere ? 'page' : undefined} />;
}
