import { Suspense, useEffect } from 'react';
import { startEvents, stopEvents } from './api/events';
import { useKeyState } from './api/session-key';
import type { Session } from './api/types';
import { useAnswer } from './api/use-answer';
import { refusalText } from './core/refusal-text';
import { matchRoute } from './core/route';
import { SignIn } from './layout/sign-in';
import { Shell } from './layout/shell';
import { Boundary } from './parts/boundary';
import { Empty } from './parts/empty';
import { Failure } from './parts/failure';
import { Loading } from './parts/loading';
import { Page } from './parts/page';
import { Link } from './router/link';
import { useLocation } from './router/location';
import { routes } from './routes';

/** Asks who is here, then shows the page of the address, or the form for a key. */
export function App() {
  const { refused, epoch } = useKeyState();
  // Another key makes another question of it; a fragment never leaves the browser.
  const session = useAnswer<Session>(refused === null ? `/admin/v1/session#${epoch}` : null);
  const isIn = session.data !== null && refused === null;
  useEffect(() => {
    if (!isIn) return;
    startEvents();
    return stopEvents;
  }, [isIn, epoch]);

  if (refused !== null) return <SignIn why={refused} />;
  if (session.failure?.status === 403) return <SignIn why={refusalText(session.failure)} />;
  if (session.failure !== null && session.data === null)
    return (
      <main className="alone">
        <Failure failure={session.failure} what="The gateway could not be asked who you are" again={session.again} />
      </main>
    );
  if (session.data === null)
    return (
      <main className="alone">
        <Loading what="Asking the gateway who you are" />
      </main>
    );
  return (
    <Shell session={session.data}>
      <CurrentPage />
    </Shell>
  );
}

function CurrentPage() {
  const { path } = useLocation();
  for (const { path: pattern, Component } of routes) {
    const params = matchRoute(pattern, path);
    if (params === null) continue;
    return (
      <Boundary key={path}>
        <Suspense fallback={<Loading what="Loading the page" />}>
          <Component params={params} />
        </Suspense>
      </Boundary>
    );
  }
  return (
    <Page title="No such page">
      <Empty title={`There is no page at ${path}.`}>
        <Link to="/">Go to the overview</Link>
      </Empty>
    </Page>
  );
}
