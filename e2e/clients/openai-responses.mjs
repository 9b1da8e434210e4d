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

const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const tools = [{ type: 'function', name: TOOL, description: DESCRIPTION, parameters: PARAMETERS, strict: true }];
const input = [{ role: 'user', content: QUESTION }];

async function ask() {
  const response = streamed
    ? await client.responses.stream({ model, input, tools }).finalResponse()
    : await client.responses.create({ model, input, tools });
  input.push(...response.output);
  return response;
}

const answers = [];
for (let round = 0; round < MAX_ROUNDS; round++) {
  const response = await ask();
  const calls = response.output.filter((item) => item.type === 'function_call');
  for (const { call_id, arguments: text } of calls)
    input.push({ type: 'function_call_output', call_id, output: weather(JSON.parse(text)) });
  if (calls.length > 0) continue;
  answers.push(response.output_text);
  break;
}
input.push({ role: 'user', content: THANKS });
answers.push((await ask()).output_text);
report(answers);
