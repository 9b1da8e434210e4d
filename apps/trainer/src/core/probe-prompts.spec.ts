import { collectPrompts, conversations, ProbePromptsFile, promptsForAnswers } from './probe-prompts';

describe('probe prompts', () => {
  it('are texts of a user or whole conversations', () => {
    const system = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Why?' },
    ];
    expect(conversations(ProbePromptsFile.parse(['How?', system]))).toEqual([
      [{ role: 'user', content: 'How?' }],
      system,
    ]);
  });
  it('are collected until there are enough, each once', () => {
    expect(collectPrompts([[1]], [Int32Array.of(1), Int32Array.of(2), [2], [3], [4]], 3)).toEqual([[1], [2], [3]]);
  });
  it('go round for as many answers as are wanted', () => {
    expect(promptsForAnswers(['a', 'b'], 5)).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(promptsForAnswers([], 5)).toEqual([]);
  });
});
