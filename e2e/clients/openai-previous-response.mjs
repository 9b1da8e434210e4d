import OpenAI from 'openai';
import {
  apiKey,
  baseURL,
  DESCRIPTION,
  MAX_ROUNDS,
  model,
  PARAMETERS,
  QUESTION,
  report,
  streamed,
  THANKS,
  TOOL,
  weather,
} from './conversation.mjs';

// Keeps no history: every request names the response that it goes on from.
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const tools = [{ type: 'function', name: TOOL, description: DESCRIPTION, parameters: PARAMETERS, strict: true }];

async function ask(input, previous) {
  const body = { model, input, tools, ...(previous && { previous_response_id: previous.id }) };
  return streamed ? client.responses.stream(body).finalResponse() : client.responses.create(body);
}

let response = await ask(QUESTION);
for (let round = 0; round < MAX_ROUNDS; round++) {
  const calls = response.output.filter((item) => item.type === 'function_call');
  if (calls.length === 0) break;
  const outputs = calls.map(({ call_id, arguments: text }) => ({
    type: 'function_call_output',
    call_id,
    output: weather(JSON.parse(text)),
  }));
  response = await ask(outputs, response);
}
const last = await ask(THANKS, response);
report([response.output_text, last.output_text]);
