import * as tf from '@tensorflow/tfjs';
import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, loraTuning, trainingSample } from '../testing/fixtures';
import { tinyModel, tinyState } from '../testing/toy-policy';
import { trainStep } from './train-step';

const sample = trainingSample({ promptIds: Int32Array.of(1, 2, 3), responseIds: Int32Array.of(4, 5, 6, 7) });

describe('tensors', () => {
  it('D66: a thousand steps leave none behind', async () => {
    const { backend } = await chooseBackend('wasm', 1);
    const hyper = hyperparameters({ tuning: loraTuning({ dropout: 0.1, targets: ['q_proj'] }) });
    const model = tinyModel(backend, hyper);
    let state = tinyState(hyper);
    const step = async (): Promise<void> => {
      const result = await trainStep(model, [sample], state, hyper, 0);
      if (!result.ok) throw new Error('the step was refused');
      state = result.state;
    };
    await step();
    const { numTensors, numBytes } = tf.memory();
    for (let i = 0; i < 1000; i++) await step();
    expect(tf.memory()).toMatchObject({ numTensors, numBytes });
    expect(state.optimizer.step).toBe(1001);
    await backend.dispose();
  }, 120_000);

  it('D68: fifty models made and disposed of leave none behind', async () => {
    const before = tf.memory().numTensors;
    for (let i = 0; i < 50; i++) {
      const { backend } = await chooseBackend('wasm', 1);
      const hyper = hyperparameters({ tuning: i % 2 === 0 ? loraTuning() : { kind: 'full' } });
      const result = await trainStep(tinyModel(backend, hyper), [sample], tinyState(hyper), hyper, 0);
      expect(result.ok).toBe(true);
      await backend.dispose();
    }
    expect(tf.memory().numTensors).toBe(before);
  });
});
