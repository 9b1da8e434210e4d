import OpenAI from 'openai';
import {
  apiKey,
  baseURL,
  DESCRIPTION,
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
const tools = [
  {
    type: 'function',
    function: {
      name: TOOL,
      description: DESCRIPTION,
      parameters: PARAMETERS,
      parse: JSON.parse,
      function: (input) => weather(input),
    },
  },
];
const runner = client.chat.completions.runTools({
  model,
  messages: [{ role: 'user', content: QUESTION }],
  tools,
  stream: streamed,
});
const answers = [await runner.finalContent()];
const messages = [...runner.messages, { role: 'user', content: THANKS }];
if (streamed) {
  let text = '';
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
    text += chunk.choices[0]?.delta?.content ?? '';
  answers.push(text);
} else answers.push((await client.chat.completions.create({ model, messages })).choices[0].message.content);
report(answers);
