import Anthropic from '@anthropic-ai/sdk';
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

const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey, maxRetries: 0 });
const tools = [{ name: TOOL, description: DESCRIPTION, input_schema: PARAMETERS }];
const messages = [{ role: 'user', content: QUESTION }];

async function ask() {
  const body = { model, max_tokens: 200, system: 'Be kind.', messages, tools };
  const message = streamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
  messages.push({ role: 'assistant', content: message.content });
  return message;
}
const textOf = ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join('');

const answers = [];
for (let round = 0; round < MAX_ROUNDS; round++) {
  const message = await ask();
  const uses = message.content.filter(({ type }) => type === 'tool_use');
  if (uses.length > 0) {
    const content = uses.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: weather(input) }));
    messages.push({ role: 'user', content });
    continue;
  }
  answers.push(textOf(message));
  break;
}
messages.push({ role: 'user', content: THANKS });
answers.push(textOf(await ask()));
report(answers);
