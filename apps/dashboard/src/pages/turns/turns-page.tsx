import { Page } from '../../parts/page';

export function TurnsPage() {
  return <Page title="Turns">Nothing yet.</Page>;
}
