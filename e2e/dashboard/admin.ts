import type { TurnDetail, TurnsPage } from '@hindcast/contracts';

/** Asks the gateway's administration as the page does. */
export async function admin<T>(gatewayUrl: string, path: string): Promise<T> {
  const response = await fetch(`${gatewayUrl}/admin/v1${path}`);
  if (!response.ok) throw new Error(`/admin/v1${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

export const turnDetail = async (gatewayUrl: string, id: string): Promise<TurnDetail> =>
  (await admin<{ detail: TurnDetail }>(gatewayUrl, `/turns/${id}`)).detail;

/** The newest turn that a filter lets through. */
export async function newestTurn(gatewayUrl: string, filter: string): Promise<string> {
  const { turns } = await admin<TurnsPage>(gatewayUrl, `/turns?${filter}&limit=1`);
  if (turns.length === 0) throw new Error(`no turn for ${filter}`);
  return turns[0]!.turnId;
}
