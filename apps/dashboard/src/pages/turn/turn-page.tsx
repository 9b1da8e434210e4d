import { Page } from '../../parts/page';

export function TurnPage() {
  return <Page title="Turn">Nothing yet.</Page>;
}
