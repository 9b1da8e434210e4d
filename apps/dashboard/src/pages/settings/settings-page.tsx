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
  const [query, setQuery] = useQuery(['name', 'given']);
  const answer = useAnswer<SettingsAnswer>('/admin/v1/settings', { everyMs: 15_000 });
  return (
    <Page
      title="Settings"
      lead="What each service runs with, as it resolved it. Values are changed where the services are started; secrets are never shown."
      actions={
        <>
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
          <label className="settings-choice">
            <input
              type="checkbox"
              checked={query.given === '1'}
              onChange={({ target }) => setQuery({ given: target.checked ? '1' : '' }, { replace: true })}
            />
            Only what was given
          </label>
        </>
      }
    >
      <Answered answer={answer} what="the settings" lines={10}>
        {({ services }) => <Apps services={services} filter={query.name} isGivenOnly={query.given === '1'} />}
      </Answered>
    </Page>
  );
}

interface AppsProps {
  readonly services: SettingsAnswer['services'];
  readonly filter: string;
  readonly isGivenOnly: boolean;
}

function Apps({ services, filter, isGivenOnly }: AppsProps) {
  const apps = useMemo(() => appSettings(services), [services]);
  const shown = apps
    .map((app) => ({
      app,
      rows: matchingSettings(app.settings, filter).filter(({ isGiven }) => isGiven || !isGivenOnly),
    }))
    .filter(({ rows }) => rows.length > 0 || filter.trim() === '');
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
        <App key={app.app} app={app} rows={rows} />
      ))}
    </>
  );
}

function App({
  app: { app, replicas, differing, releases },
  rows,
}: {
  readonly app: AppSettings;
  readonly rows: AppSettings['settings'];
}) {
  const waiting = replicas.filter(({ ready }) => !ready).length;
  return (
    <Section
      title={app}
      actions={
        <span className="settings-marks">
          {waiting === 0 ? <Badge tone="ok">ready</Badge> : <Badge tone="bad">{waiting} not ready</Badge>}
          {replicas.length > 1 && <Badge>{replicas.length} replicas</Badge>}
          {releases.length > 1 && <Badge tone="warn">{releases.length} releases</Badge>}
          {differing.length > 0 && <Badge tone="warn">{counted(differing.length, 'setting')} differ</Badge>}
        </span>
      }
    >
      <Replicas app={app} replicas={replicas} />
      {rows.length > 0 && <SettingsTable app={app} replicas={replicas} rows={rows} />}
    </Section>
  );
}
