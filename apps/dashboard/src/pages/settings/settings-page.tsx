import { Page } from '../../parts/page';

export function SettingsPage() {
  return <Page title="Settings">Nothing yet.</Page>;
}
