import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, loraTuning, trainingSample } from '../testing/fixtures';
import { dataOf, tinyModel, tinyState } from '../testing/toy-policy';
import { initialAdamState, type AdamState, type NamedArrays } from './adam';
import type { ComputeBackend } from './compute-backend';
import { givenBack, housed, without } from './housing';
import { trainStep, type TrainingState } from './train-step';

const named = (values: Record<string, number[]>): Map<string, Float32Array> =>
  new Map(Object.entries(values).map(([name, numbers]) => [name, Float32Array.from(numbers)]));
const parameters = named({ a: [1, 2, 3], b: new Array<number>(17).fill(4) });

describe('housed', () => {
  it('has the same moments, and spare arrays, all in one memory and none upon another', () => {
    const state = { ...initialAdamState(parameters), first: named({ a: [5, 6, 7], b: new Array<number>(17).fill(8) }) };
    const { step, first, second, spares } = housed(state, parameters);
    expect({ step, first, second }).toEqual(state);
    const all = [first, second, ...spares].flatMap((arrays) => [...arrays.values()]);
    expect(new Set(all.map(({ buffer }) => buffer)).size).toBe(1);
    const places = all.map(({ byteOffset }) => byteOffset);
    expect(places.every((place) => place % 64 === 0)).toBe(true);
    expect(places).toEqual([0, 1, 2, 3, 4].flatMap((arrays) => [arrays * 192, arrays * 192 + 64]));
    expect(spares.map((arrays) => [...arrays.values()].map(({ length }) => length))).toEqual(
      new Array(3).fill([3, 17]),
    );
  });

  it('is so once', () => {
    const state = housed(initialAdamState(parameters), parameters);
    expect(housed(state, parameters)).toBe(state);
  });

  it('leaves a state where it is that a memory of 32-bit addresses does not hold', () => {
    const huge = new Map([['a', { length: 2 ** 28 } as Float32Array]]);
    const state: AdamState = { step: 3, first: huge, second: huge };
    expect(housed(state, huge)).toEqual({ ...state, spares: [] });
  });
});

it('only arrays of the same memory are taken back', () => {
  const state = housed(initialAdamState(parameters), parameters);
  const [, , top] = state.spares as [NamedArrays, NamedArrays, NamedArrays];
  const left = { ...state, spares: without(state.spares, top) };
  expect(left.spares).toHaveLength(2);
  expect(givenBack(left, parameters)).toBe(left.spares);
  expect(givenBack(left, top).at(-1)).toBe(top);
});

describe('steps', () => {
  const samples = [
    trainingSample({ promptIds: Int32Array.of(1, 2), responseIds: Int32Array.of(4, 5, 6) }),
    trainingSample({ promptIds: Int32Array.of(3), responseIds: Int32Array.of(7, 8), reward: -1 }),
  ];
  const settings = {
    full: hyperparameters({ tuning: { kind: 'full' }, learningRate: 0.01 }),
    lora: hyperparameters({ tuning: loraTuning(), learningRate: 0.01 }),
    epochs: hyperparameters({ tuning: { kind: 'full' }, learningRate: 0.01, epochs: 3, miniBatches: 2 }),
    'micro-batches': hyperparameters({ tuning: { kind: 'full' }, learningRate: 0.01, tokenBudget: 64 }),
  };

  let backend: ComputeBackend;
  beforeAll(async () => {
    ({ backend } = await chooseBackend('onnx', 1));
  });
  afterAll(() => backend.dispose());

  async function stepped(hyper: (typeof settings)['full'], from: TrainingState): Promise<TrainingState> {
    const result = await trainStep(tinyModel(backend, hyper), samples, from, hyper, 0);
    if (!result.ok) throw new Error('the step was refused');
    return result.state;
  }

  it.each(Object.entries(settings))(
    'in one memory are to the bit those with arrays of their own: %s',
    async (_, hyper) => {
      let [one, other] = [tinyState(hyper), tinyState(hyper)];
      for (let i = 0; i < 4; i++) {
        one = await stepped(hyper, one);
        other = await stepped(hyper, { ...other, optimizer: { ...other.optimizer, spares: [] } });
      }
      expect(dataOf(one.weights)).toEqual(dataOf(other.weights));
      expect(one.optimizer.first).toEqual(other.optimizer.first);
      expect(one.optimizer.second).toEqual(other.optimizer.second);
    },
  );

  it('of an adapter keep its arrays apart, which takes less memory', async () => {
    const { optimizer, weights } = await stepped(settings.lora, await stepped(settings.lora, tinyState(settings.lora)));
    expect(optimizer.spares).toEqual([]);
    const buffers = [...optimizer.first.values(), ...dataOf(weights).values()].map(({ buffer }) => buffer);
    expect(new Set(buffers).size).toBe(buffers.length);
  });

  const full = Object.entries(settings).filter(([, { tuning }]) => tuning.kind === 'full');
  it.each(full)('take no new memory from the second on: %s', async (_, hyper) => {
    let state = await stepped(hyper, tinyState(hyper));
    const { buffer } = [...state.optimizer.first.values()][0]!;
    for (let i = 0; i < 4; i++) {
      state = await stepped(hyper, state);
      expect(new Set([...state.weights.values()].map(({ data }) => data.buffer))).toEqual(new Set([buffer]));
    }
  });

  it('write over the weights before the last only where nobody shares them', async () => {
    const hyper = settings.full;
    for (const isShared of [false, true]) {
      const first = await stepped(hyper, tinyState(hyper));
      const before = structuredClone(dataOf(first.weights));
      const second = await stepped(hyper, { ...first, isShared });
      expect(dataOf(first.weights)).toEqual(before);
      await stepped(hyper, second);
      const isSame = [...before].every(([name, data]) => data.every((x, i) => x === first.weights.get(name)!.data[i]));
      expect(isSame).toBe(isShared);
    }
  });
});
