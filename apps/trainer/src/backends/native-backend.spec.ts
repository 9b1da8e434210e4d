import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import nodeUtil from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { loraTuning } from '../testing/fixtures';
import { largestDifference, trainSmallPolicy, type SmallTraining } from '../testing/small-policy';
import { TensorFlowStandIn } from '../testing/tensorflow-stand-in';
import { chooseBackend } from './choose-backend';
import { EagerBackend } from './eager-backend';
import {
  findBinding,
  registerNativeBackend,
  restoreRemovedUtilities,
  setEnvironment,
  type NativePackage,
} from './native-backend';
import { parityNumbers } from './parity';
import { PARITY_NUMBERS } from './parity-numbers';

const packages: readonly NativePackage[] = ['tfjs-node', 'tfjs-node-gpu'];

/** The published JavaScript of the package over a stand-in for its native module. */
async function standIn(name: NativePackage): Promise<{ backend: EagerBackend; native: TensorFlowStandIn }> {
  tf.enableProdMode();
  await tf.setBackend('cpu');
  const native = new TensorFlowStandIn(name === 'tfjs-node-gpu');
  // As from Node 23 on.
  Object.assign(nodeUtil, { isNullOrUndefined: undefined, isArray: undefined });
  const tfjsName = registerNativeBackend(name, native.binding);
  await tf.setBackend(tfjsName);
  return { backend: new EagerBackend(name, tfjsName), native };
}

const tuning = loraTuning({ rank: 2, alpha: 4, dropout: 0.1 });
let onCpu: Promise<SmallTraining> | undefined;
const trainOnCpu = async () => await trainSmallPolicy((await chooseBackend('cpu', 1)).backend, tuning, 1);

describe.each(packages)('the published %s over a stand-in for TensorFlow', (name) => {
  it('asks TensorFlow for operations that it has, with the attributes that they have, and gets the right numbers', async () => {
    const { backend, native } = await standIn(name);
    const numbers = await parityNumbers(backend);
    for (const [key, right] of Object.entries(PARITY_NUMBERS)) {
      expect(Math.abs(numbers[key]! - right)).toBeLessThan(2e-5 * (1 + Math.abs(right)));
    }
    expect(Object.fromEntries(native.calls)).toMatchObject({
      BatchMatMulV2: expect.any(Number) as number,
      UnsortedSegmentSum: expect.any(Number) as number,
      SplitV: expect.any(Number) as number,
    });
  });

  it('trains an adapter with dropout and every term of the loss as the cpu backend does, and leaves no tensor behind', async () => {
    const cpu = await (onCpu ??= trainOnCpu());
    const { backend, native } = await standIn(name);
    const ours = await trainSmallPolicy(backend, tuning, 1);
    for (const [key, { data }] of ours.weights) {
      expect([key, largestDifference(data, cpu.weights.get(key)!.data) < 1e-5]).toEqual([key, true]);
    }
    await backend.dispose();
    expect(native.binding.isUsingGpuDevice()).toBe(name === 'tfjs-node-gpu');
    expect((native.binding as unknown as { getNumOfTensors(): number }).getNumOfTensors()).toBe(0);
  }, 120_000);
});

describe('what TensorFlow reads from the environment', () => {
  const environmentOf = (over: Record<string, string>, settings = {}) => {
    const environment: Record<string, string | undefined> = { ...over };
    setEnvironment(environment, 3, settings);
    return environment;
  };

  it('takes memory as it needs it, computes in float32 and sums in a fixed order, on so many threads', () => {
    expect(environmentOf({}, { cudaCacheDir: '/kept' })).toMatchObject({
      TF_FORCE_GPU_ALLOW_GROWTH: 'true',
      NVIDIA_TF32_OVERRIDE: '0',
      TF_DETERMINISTIC_OPS: '1',
      TF_NUM_INTRAOP_THREADS: '3',
      CUDA_CACHE_PATH: '/kept',
      CUDA_CACHE_MAXSIZE: '4294967296',
    });
  });

  it.each([
    { name: 'CUDA_VISIBLE_DEVICES', value: '1', why: 'which GPU is the operator’s choice' },
    { name: 'TF_FORCE_GPU_ALLOW_GROWTH', value: 'false', why: 'what is set stays' },
    { name: 'NVIDIA_TF32_OVERRIDE', value: '1', why: 'what is set stays' },
  ])('$name=$value: $why', ({ name, value }) => {
    expect(environmentOf({ [name]: value })[name]).toBe(value);
  });

  it('leaves TF32 to NVIDIA where it is asked for', () => {
    expect(environmentOf({}, { tf32: true })).not.toHaveProperty('NVIDIA_TF32_OVERRIDE');
    expect(environmentOf({})).not.toHaveProperty('CUDA_VISIBLE_DEVICES');
  });
});

describe('what Node 23 removed', () => {
  it('is put back as it was', () => {
    const utilities: Record<string, unknown> = {};
    restoreRemovedUtilities(utilities);
    const isNullOrUndefined = utilities['isNullOrUndefined'] as (value: unknown) => boolean;
    expect([null, undefined, 0, ''].map(isNullOrUndefined)).toEqual([true, true, false, false]);
    expect((utilities['isArray'] as (value: unknown) => boolean)([])).toBe(true);
  });

  it('stays where Node still has it', () => {
    const isArray = (): string => 'own';
    const utilities: Record<string, unknown> = { isArray };
    restoreRemovedUtilities(utilities);
    expect(utilities['isArray']).toBe(isArray);
  });
});

describe('findBinding', () => {
  it.each(packages)('%s: finds what was built, and says how to build what was not', (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'hindcast-binding-'));
    const file = join(
      folder,
      name,
      'lib',
      `napi-v${Math.min(8, Number(process.versions['napi']))}`,
      'tfjs_binding.node',
    );
    expect(() => findBinding(name, folder)).toThrow(/npm run tfjs-node:build/);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    expect(findBinding(name, folder)).toBe(file);
    rmSync(folder, { recursive: true });
  });
});
