import { Page } from '../../parts/page';

export function TrainingPage() {
  return <Page title="Training">Nothing yet.</Page>;
}
