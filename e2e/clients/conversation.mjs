// What every client does: asks for the weather of two cities with a tool at hand, runs whatever the model calls, thanks for the answer.
export const QUESTION = 'What is the weather in Paris and Rome?';
export const THANKS = 'Thank you!';
export const TOOL = 'get_weather';
export const DESCRIPTION = 'The weather in a city';
export const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
/** Most rounds of tool calls. */
export const MAX_ROUNDS = 4;

export const weather = ({ city }) => `${city}: sunny`;

export const baseURL = process.env.BASE_URL;
export const apiKey = process.env.API_KEY;
export const model = process.env.MODEL ?? 'seed';
export const streamed = process.env.STREAMED === '1';

/** The texts of the answers that the user saw, as one JSON line. */
export function report(answers) {
  process.stdout.write(`${JSON.stringify({ answers })}\n`, () => process.exit(0));
}
