import { Page } from '../../parts/page';

export function PoliciesPage() {
  return <Page title="Policies">Nothing yet.</Page>;
}
