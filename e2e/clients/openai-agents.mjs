import { Agent, Runner, setTracingDisabled, tool, OpenAIProvider } from '@openai/agents';
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

setTracingDisabled(true);
const useResponses = process.env.API === 'responses';
const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey, useResponses }) });
const agent = new Agent({
  name: 'Assistant',
  instructions: 'Be kind.',
  model,
  tools: [tool({ name: TOOL, description: DESCRIPTION, parameters: PARAMETERS, strict: true, execute: weather })],
});

async function ask(input) {
  const result = await runner.run(agent, input, { stream: streamed, maxTurns: MAX_ROUNDS });
  if (streamed) await result.completed;
  return result;
}

const first = await ask(QUESTION);
const second = await ask([...first.history, { role: 'user', content: THANKS }]);
report([first.finalOutput, second.finalOutput]);
