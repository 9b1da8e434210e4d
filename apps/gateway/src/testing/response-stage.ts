import { queries } from '@hindcast/contracts';
import OpenAI from 'openai';
import type { Response as ModelResponse } from 'openai/resources/responses/responses';
import { startGatewayStage, type GatewayStage } from './gateway-stage';

/** The turn of a response. */
export const turnOf = ({ id }: { id: string }): string =>
  id.slice('resp_'.length).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** A gateway asked for responses, with a ledger that knows nothing yet. */
export interface ResponseStage extends GatewayStage {
  readonly client: OpenAI;
  /** One response, streamed or whole, through OpenAI's client. */
  ask(
    this: void,
    body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
    isStreamed?: boolean,
  ): Promise<ModelResponse>;
  post(this: void, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

export async function startResponseStage(dialect: 'vllm' | 'sglang'): Promise<ResponseStage> {
  const stage = await startGatewayStage({}, dialect);
  const { gateway, bus } = stage;
  const client = new OpenAI({ apiKey: 'none', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const ledger = bus.raw.subscribe(queries.turn.subject, {
    callback: (_, message) => void message.respond(JSON.stringify({ found: false })),
  });
  await bus.raw.flush();
  return {
    ...stage,
    client,
    ask: async (body, isStreamed = false) =>
      isStreamed ? client.responses.stream(body as never).finalResponse() : client.responses.create(body),
    post: (body, headers = {}) =>
      fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    stop: async () => {
      ledger.unsubscribe();
      await stage.stop();
    },
  };
}
