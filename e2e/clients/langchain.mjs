import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
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

const chat = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL } }).bindTools([
  { type: 'function', function: { name: TOOL, description: DESCRIPTION, parameters: PARAMETERS } },
]);
const messages = [new HumanMessage(QUESTION)];

async function ask() {
  let answer;
  if (streamed) for await (const chunk of await chat.stream(messages)) answer = answer ? answer.concat(chunk) : chunk;
  else answer = await chat.invoke(messages);
  messages.push(answer);
  return answer;
}

const answers = [];
for (let round = 0; round < MAX_ROUNDS; round++) {
  const answer = await ask();
  for (const { id, args } of answer.tool_calls ?? [])
    messages.push(new ToolMessage({ tool_call_id: id, content: weather(args) }));
  if (answer.tool_calls?.length > 0) continue;
  answers.push(answer.text);
  break;
}
messages.push(new HumanMessage(THANKS));
answers.push((await ask()).text);
report(answers);
