import { comparableModels, demoPrompts, firstPair, lastingLabel } from './comparable-models';

const rows = [
  { version: 2, adapter: 'hindcast-v000002' },
  { version: 0, adapter: null },
];
const current = { version: 2, weights: 'named' } as const;

describe('models to compare', () => {
  it('are those that an engine has, each once, newest version first and the base model last', () => {
    const models = comparableModels([['qwen', 'hindcast-v000001', 'hindcast-v000002'], ['qwen']], rows, current);
    expect(models).toEqual([
      { model: 'hindcast-v000002', version: 2, label: 'version 2, serves now' },
      { model: 'hindcast-v000001', version: 1, label: 'version 1' },
      { model: 'qwen', version: null, label: 'qwen, base model' },
    ]);
    expect(firstPair(models, current)).toEqual(['qwen', 'hindcast-v000002']);
  });

  it('say that the base model serves', () => {
    const models = comparableModels([['qwen']], rows, { version: 0, weights: 'named' });
    expect(models.map(({ label }) => label)).toEqual(['qwen, base model, serves now']);
    expect(firstPair(models, { version: 0 })).toEqual(['qwen', 'qwen']);
  });

  it('do not call replaced weights the base model', () => {
    const [only] = comparableModels([['qwen']], rows, { version: 2, weights: 'replaced' });
    expect(only!.label).toBe('qwen, version 2, serves now');
  });

  it('are none while no engine answers', () => {
    expect(comparableModels([], rows, current)).toEqual([]);
    expect(firstPair([], current)).toBeNull();
  });
});

describe('prompts to begin with', () => {
  it('are offered for the demo’s model alone', () => {
    const of = (model: string) =>
      demoPrompts(comparableModels([[model, 'hindcast-v000001']], [], { version: 1, weights: 'named' }));
    expect(of('seed')).toContain('What is a planet?');
    expect(of('qwen')).toEqual([]);
  });
});

it('an answer keeps the label of who was asked, whatever serves later', () =>
  expect(lastingLabel('version 9, serves now')).toBe('version 9'));
