import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
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

const provider = createOpenAICompatible({ name: 'hindcast', baseURL, apiKey });
const tools = { [TOOL]: tool({ description: DESCRIPTION, inputSchema: jsonSchema(PARAMETERS), execute: weather }) };
const messages = [{ role: 'user', content: QUESTION }];

async function ask() {
  const options = { model: provider(model), messages, tools, stopWhen: stepCountIs(MAX_ROUNDS), maxRetries: 0 };
  const result = streamed
    ? streamText({
        ...options,
        onError: ({ error }) => {
          throw error;
        },
      })
    : await generateText(options);
  if (streamed) await result.consumeStream();
  messages.push(...(await result.response).messages);
  return result.text;
}

const answers = [await ask()];
messages.push({ role: 'user', content: THANKS });
answers.push(await ask());
report(answers);
