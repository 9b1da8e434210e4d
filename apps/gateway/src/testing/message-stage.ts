import { startGatewayStage, type GatewayStage } from './gateway-stage';
import { keyOf } from './keys';
import { readMessage } from './message-events';

export const KEY = 'sk-messages';

export const tools = ['read', 'list'].map((name) => ({ name, description: name, input_schema: { type: 'object' } }));

export const says = (content: unknown): object => ({ role: 'user', content });

/** The message of an answer, whole or streamed. */
export const messageFrom = async (response: Response): Promise<Record<string, unknown>> =>
  response.headers.get('content-type')!.includes('event-stream')
    ? readMessage(await response.text()).message
    : ((await response.json()) as Record<string, unknown>);

/** A gateway asked as Anthropic's clients ask. */
export interface MessageStage extends GatewayStage {
  /** @param body a text is sent as it is */
  send(this: void, body: unknown, headers?: Record<string, string>, path?: string): Promise<Response>;
  /** @param fields of a request for a message, besides its model and length */
  ask(this: void, fields: object, headers?: Record<string, string>): Promise<Response>;
}

export async function startMessageStage(): Promise<MessageStage> {
  const stage = await startGatewayStage({ API_KEYS: keyOf('ann', KEY), MAX_BODY_BYTES: '200000' });
  const send: MessageStage['send'] = (body, headers = {}, path = '/v1/messages') =>
    fetch(stage.gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': KEY, 'anthropic-version': '2023-06-01', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { ...stage, send, ask: (fields, headers) => send({ model: 'claude-x', max_tokens: 64, ...fields }, headers) };
}
