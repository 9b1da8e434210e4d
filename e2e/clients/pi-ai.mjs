import { complete, stream } from '@mariozechner/pi-ai';
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

const served = {
  id: model,
  name: model,
  api: 'openai-completions',
  provider: 'hindcast',
  baseUrl: baseURL,
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 512,
  maxTokens: 200,
};
const said = (content) => ({ role: 'user', content, timestamp: Date.now() });
const context = {
  systemPrompt: 'Be kind.',
  messages: [said(QUESTION)],
  tools: [{ name: TOOL, description: DESCRIPTION, parameters: PARAMETERS }],
};

async function ask() {
  let message;
  if (streamed) {
    const events = stream(served, context, { apiKey });
    for await (const event of events) if (event.type === 'error') throw new Error(event.error.errorMessage);
    message = await events.result();
  } else message = await complete(served, context, { apiKey });
  if (message.errorMessage) throw new Error(message.errorMessage);
  context.messages.push(message);
  return message;
}
const textOf = ({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join('');

const answers = [];
for (let round = 0; round < MAX_ROUNDS; round++) {
  const message = await ask();
  const calls = message.content.filter(({ type }) => type === 'toolCall');
  for (const { id, name, arguments: input } of calls) {
    const content = [{ type: 'text', text: weather(input) }];
    context.messages.push({
      role: 'toolResult',
      toolCallId: id,
      toolName: name,
      content,
      isError: false,
      timestamp: Date.now(),
    });
  }
  if (calls.length > 0) continue;
  answers.push(textOf(message));
  break;
}
context.messages.push(said(THANKS));
answers.push(textOf(await ask()));
report(answers);
