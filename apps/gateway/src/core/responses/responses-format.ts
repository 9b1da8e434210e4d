import type { ClientFormat } from '../client-format';
import { outputItems } from './output-items';
import { isObject } from './request-refusal';
import { responseId } from './response-ids';
import { responseObject, responseUsage, stateOf } from './response-object';
import { customTools } from './response-tools';
import { wantsLogProbs } from './responses-request';
import { ResponsesStream } from './responses-stream';

type Json = Record<string, unknown>;

/**
 * Answers one request of the Responses API.
 *
 * @param request the client's body
 * @param createdAt Unix time, seconds
 */
export function responsesFormat(request: Json, createdAt: number): ClientFormat {
  const custom = customTools(request);
  const withLogProbs = wantsLogProbs(request);
  return {
    responseId,
    error: (_, body) => body,
    whole: ({ body: completion }, _asked, answerId) => {
      const choice = firstChoice(completion);
      const message = isObject(choice['message']) ? choice['message'] : {};
      const logprobs = withLogProbs && isObject(choice['logprobs']) ? choice['logprobs']['content'] : null;
      const output = outputItems(answerId, message, custom, Array.isArray(logprobs) ? logprobs : []);
      const state = stateOf(typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : null);
      const last = output.at(-1);
      if (state.status === 'incomplete' && last) last['status'] = 'incomplete';
      const response = responseObject(
        { answerId, request, createdAt },
        {
          ...state,
          model: typeof completion['model'] === 'string' ? completion['model'] : null,
          output: state.status === 'failed' ? [] : output,
          usage: responseUsage(completion['usage']),
        },
      );
      return Buffer.from(JSON.stringify(response));
    },
    stream: (_, answerId) =>
      new ResponsesStream({ answerId, request, createdAt, customTools: custom, wantsLogProbs: withLogProbs }),
  };
}

const firstChoice = (completion: Json): Json =>
  (Array.isArray(completion['choices']) ? completion['choices'].find(isObject) : null) ?? {};
