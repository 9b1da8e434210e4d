import type { GatewayConfig } from './config';
import type { EngineClient } from './engine-client';
import { EngineModels } from './engine-models';

type List = Awaited<ReturnType<EngineClient['models']>>;
interface Pending {
  readonly resolve: (list: List) => void;
  readonly reject: (error: unknown) => void;
}

describe('the engines’ model lists', () => {
  const asked: string[] = [];
  const answers = new Map<string, Pending>();
  const answer = (engine: string, ...ids: string[]): void =>
    answers.get(engine)!.resolve({ raw: [], listed: ids.map((id) => ({ id, parent: null })) });
  const names = (listed: readonly { id: string }[]): string[] => listed.map(({ id }) => id);

  const models = (): EngineModels => {
    asked.length = 0;
    const client = {
      models: (engine: string) => {
        asked.push(engine);
        return new Promise<List>((resolve, reject) => answers.set(engine, { resolve, reject }));
      },
    } as unknown as EngineClient;
    return new EngineModels({ POLICY_BASE_URL: ['a', 'b'], STRICT_MODEL: false } as unknown as GatewayConfig, client);
  };

  it('the first request waits for all, those after it not for one that hangs', async () => {
    const lists = models();
    const first = lists.listed(null);
    answer('a', 'seed');
    // Lets the answer of `a` be taken.
    await new Promise(setImmediate);
    expect(names(await lists.listed(null))).toEqual(['seed']);
    answer('b', 'other');
    expect(names(await first)).toEqual(['seed', 'other']);
    expect(asked).toEqual(['a', 'b']);
  });

  it('while no engine has answered, every request waits for the lists that are on their way', async () => {
    const lists = models();
    const both = [lists.listed(null), lists.listed(null)];
    answer('b', 'other');
    answers.get('a')!.reject(new Error('refused'));
    expect((await Promise.all(both)).map(names)).toEqual([['other'], ['other']]);
    expect(lists.holders('other')).toEqual(new Set(['b']));
  });
});
