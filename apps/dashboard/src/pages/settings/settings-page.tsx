import { useMemo } from 'react';
import type { SettingsAnswer } from '../../api/types';
import { useAnswer } from '../../api/use-answer';
import { counted } from '../../core/number';
import { appSettings, matchingSettings, type AppSettings } from '../../core/setting-differences';
import { Answered } from '../../parts/answered';
import { Badge } from '../../parts/badge';
import { Empty } from '../../parts/empty';
import { Page, Section } from '../../parts/page';
import { useQuery } from '../../router/use-query';
import { Replicas } from './replicas';
import { SettingsTable } from './settings-table';
import './settings.css';

/** The configuration that every process runs with, as it resolved it. */
export function SettingsPage() {
  const [query, setQuery] = useQuery(['name']);
  const answer = useAnswer<SettingsAnswer>('/admin/v1/settings', { everyMs: 15_000 });
  return (
    <Page
      title="Settings"
      lead="What each service runs with, as it resolved it. Values are changed where the services are started; secrets are never shown."
      actions={
        <label className="settings-choice">
          Name
          <input
            type="search"
            value={query.name}
            placeholder="JUDGE_, LORA …"
            spellCheck={false}
            onChange={({ target }) => setQuery({ name: target.value }, { replace: true })}
          />
        </label>
      }
    >
      <Answered answer={answer} what="the settings" lines={10}>
        {({ services }) => <Apps services={services} filter={query.name.trim()} />}
      </Answered>
    </Page>
  );
}

interface AppsProps {
  readonly services: SettingsAnswer['services'];
  readonly filter: string;
}

function Apps({ services, filter }: AppsProps) {
  const apps = useMemo(() => appSettings(services), [services]);
  const shown = apps
    .map((app) => ({ app, rows: matchingSettings(app.settings, filter) }))
    .filter(({ rows }) => rows.length > 0 || filter === '');
  const found = shown.reduce((total, { rows }) => total + rows.length, 0);
  if (apps.length === 0)
    return (
      <Empty title="No service has answered.">
        Each service answers over the broker: look whether it runs, and at its <code>/readyz</code>.
      </Empty>
    );
  return (
    <>
      <p className="muted" role="status">
        {counted(found, 'setting')} of {counted(shown.length, 'service')}
      </p>
      {shown.length === 0 && <Empty title="No setting has such a name." />}
      {shown.map(({ app, rows }) => (
        <App key={app.app} app={app} rows={rows} isFiltered={filter !== ''} />
      ))}
    </>
  );
}

interface AppProps {
  readonly app: AppSettings;
  readonly rows: AppSettings['settings'];
  readonly isFiltered: boolean;
}

function App({ app: { app, replicas, differing, releases }, rows, isFiltered }: AppProps) {
  const given = rows.filter(({ isGiven, differs }) => isGiven || differs);
  const defaults = rows.filter((row) => !given.includes(row));
  const waiting = replicas.filter(({ ready }) => !ready).length;
  return (
    <Section
      title={app}
      actions={
        <span className="settings-marks">
          {waiting === 0 ? <Badge tone="ok">ready</Badge> : <Badge tone="bad">{waiting} not ready</Badge>}
          {replicas.length > 1 && <Badge>{replicas.length} replicas</Badge>}
          {releases.length > 1 && <Badge tone="warn">{releases.length} releases</Badge>}
          {differing.length > 0 && <Badge tone="warn">{differing.length} differing</Badge>}
        </span>
      }
    >
      <Replicas app={app} replicas={replicas} />
      {given.length > 0 && (
        <>
          <h3>Given</h3>
          <SettingsTable caption={`Settings of ${app} that were given`} replicas={replicas} rows={given} />
        </>
      )}
      {defaults.length > 0 && (
        <details open={isFiltered}>
          <summary>{counted(defaults.length, 'setting')} left at the default</summary>
          <SettingsTable caption={`Settings of ${app} left at their defaults`} replicas={replicas} rows={defaults} />
        </details>
      )}
    </Section>
  );
}
