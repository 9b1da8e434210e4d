import { Page } from '../../parts/page';

export function OverviewPage() {
  return <Page title="Overview">Nothing yet.</Page>;
}
