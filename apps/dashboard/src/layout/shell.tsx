import { useState, type ReactNode } from 'react';
import { useConnection, type Connection } from '../api/events';
import { signOut } from '../api/session-key';
import type { Session } from '../api/types';
import { useIsBusy } from '../parts/busy';
import { Link, NavLink } from '../router/link';
import { routes } from '../routes';
import { Announcer } from './announcer';
import { chooseTheme, chosenTheme, type Theme } from './theme';
import './shell.css';

/** Skip link, navigation, the page, and the live region. */
export function Shell({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  const isBusy = useIsBusy();
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="shell-side">
        <div className="shell-fixed">
          <Link className="shell-name" to="/">
            <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
              <rect width="16" height="16" rx="4" className="shell-mark" />
              <path d="M11.5 8a3.5 3.5 0 1 1-1.2-2.6M11.6 3.4v2.4H9.2" className="shell-mark-line" />
            </svg>
            Hindcast
          </Link>
          <nav aria-label="Pages" className="shell-nav">
            <ul>
              {routes.map(({ path, label }) =>
                label === null ? null : (
                  <li key={path}>
                    <NavLink to={path} within={path !== '/'}>
                      {label}
                    </NavLink>
                  </li>
                ),
              )}
            </ul>
          </nav>
          <div className="shell-foot">
            <ConnectionSign />
            <ThemeChoice />
            <p className="shell-who">
              {session.open ? 'Open: no keys are configured' : session.name}
              <span>{session.release}</span>
            </p>
            {!session.open && (
              <button type="button" className="button" onClick={signOut}>
                Sign out
              </button>
            )}
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="shell-main" aria-busy={isBusy}>
        {children}
      </main>
      <Announcer />
    </div>
  );
}

const CONNECTIONS: Record<Connection, string> = {
  off: 'Not live',
  connecting: 'Connecting…',
  live: 'Live',
  waiting: 'Connection lost; trying again',
};

function ConnectionSign() {
  const connection = useConnection();
  return (
    <p className="shell-connection" data-connection={connection} role="status">
      {CONNECTIONS[connection]}
    </p>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  return (
    <label className="shell-theme">
      Theme
      <select
        value={theme}
        onChange={({ target }) => {
          setTheme(target.value as Theme);
          chooseTheme(target.value as Theme);
        }}
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
