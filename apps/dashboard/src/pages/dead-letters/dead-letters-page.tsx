import { Page } from '../../parts/page';

export function DeadLettersPage() {
  return <Page title="Dead letters">Nothing yet.</Page>;
}
