import type { Capture } from '@hindcast/contracts';
import { outputItems } from './output-items';
import { isObject } from './request-refusal';
import { responseObject, responseUsage } from './response-object';

type Json = Record<string, unknown>;

/** A response as far as its capture tells it: output and usage are exact, of the request only model, tools and sampling are known. */
export function capturedResponse({ header, promptIds, responseIds }: Capture): Json {
  const { turnId, model, tools, sampling, answer, at } = header;
  const request = { tools: (tools ?? []).map(flatTool), temperature: sampling.temperature, top_p: sampling.topP };
  return responseObject(
    { answerId: turnId, request, createdAt: Math.floor(at / 1000) },
    {
      status: 'completed',
      model,
      output: outputItems(turnId, answer),
      usage: responseUsage({ prompt_tokens: promptIds.length, completion_tokens: responseIds.length }),
    },
  );
}

const flatTool = (tool: unknown): unknown =>
  isObject(tool) && isObject(tool['function']) ? { type: 'function', ...tool['function'] } : tool;
