import { Page } from '../../parts/page';

export function JudgePage() {
  return <Page title="Judge">Nothing yet.</Page>;
}
