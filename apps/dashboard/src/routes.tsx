// Every page of the dashboard: its path, its place in the navigation, and how its code is loaded. A page is a component without
// properties but `params`, begins with <Page title="…">, and lives in pages/<name>/<name>-page.tsx.
import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { RouteParams } from './core/route';

export interface PageProps {
  readonly params: RouteParams;
}

export interface Route {
  readonly path: string;
  /** Label in the navigation; `null`: it is reached from elsewhere. */
  readonly label: string | null;
  readonly Component: LazyExoticComponent<ComponentType<PageProps>>;
}

const page = (load: () => Promise<ComponentType<PageProps>>): Route['Component'] =>
  lazy(async () => ({ default: await load() }));

export const routes: readonly Route[] = [
  {
    path: '/',
    label: 'Overview',
    Component: page(async () => (await import('./pages/overview/overview-page')).OverviewPage),
  },
  {
    path: '/ui/turns',
    label: 'Turns',
    Component: page(async () => (await import('./pages/turns/turns-page')).TurnsPage),
  },
  {
    path: '/ui/turns/:id',
    label: null,
    Component: page(async () => (await import('./pages/turn/turn-page')).TurnPage),
  },
  {
    path: '/ui/training',
    label: 'Training',
    Component: page(async () => (await import('./pages/training/training-page')).TrainingPage),
  },
  {
    path: '/ui/policies',
    label: 'Policies',
    Component: page(async () => (await import('./pages/policies/policies-page')).PoliciesPage),
  },
  {
    path: '/ui/judge',
    label: 'Judge',
    Component: page(async () => (await import('./pages/judge/judge-page')).JudgePage),
  },
  {
    path: '/ui/dead-letters',
    label: 'Dead letters',
    Component: page(async () => (await import('./pages/dead-letters/dead-letters-page')).DeadLettersPage),
  },
  {
    path: '/ui/settings',
    label: 'Settings',
    Component: page(async () => (await import('./pages/settings/settings-page')).SettingsPage),
  },
];
