import type { BodyOf } from '@hindcast/contracts';
import { evalPrompt, hintPrompt } from './prompts';
import { current } from './prompts/published';
import { inJson, questionFrame } from './question';
import { responseFormat, structuredRule } from './structured';

const turn: BodyOf<'turnPaired'> = {
  responseId: 'r',
  sessionId: null,
  policyVersion: 0,
  conversation: [{ role: 'user', text: 'How "far"\nis the moon? 🌕 \u2028', toolName: null }],
  answer: 'Very\tfar. \\',
  nextState: [{ role: 'user', text: 'In miles, please.', toolName: null }],
  truncated: false,
  outcomePending: false,
  groundTruth: null,
};
const sampling = { model: 'a "judge"', temperature: 0.6, maxTokens: 100 };
const prompts = { eval: evalPrompt(turn, '0123456789abcdef'), hint: hintPrompt(turn, '0123456789abcdef') };

it.each(['eval', 'hint'] as const)(
  'a question of kind %s is its prompt and its settings, whatever is quoted',
  (kind) => {
    const { system, user, quotation } = prompts[kind];
    const body = (structured: boolean): unknown => {
      const { before, after } = questionFrame(kind, current[kind], sampling, structured);
      return JSON.parse(before + inJson(quotation) + after);
    };
    const settings = { model: 'a "judge"', temperature: 0.6, max_tokens: 100 };
    expect(body(false)).toEqual({
      ...settings,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
    });
    expect(body(true)).toEqual({
      ...settings,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: `${user}\n\n${structuredRule[kind]}` },
      ],
      response_format: responseFormat(kind),
    });
  },
);
it('both kinds of question on a turn quote the same text, made once', () => {
  expect(prompts.hint.quotation).toBe(prompts.eval.quotation);
});
