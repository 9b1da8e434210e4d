import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HindcastError } from '@hindcast/contracts';
import { assertTokenizerFits, readModelConfig, readModelWeights } from '@hindcast/language-model';
import { chooseBackend } from './backends/choose-backend';
import type { TrainerConfig } from './config';
import type { ComputeBackend } from './core/compute-backend';
import type { Hyperparameters } from './core/hyperparameters';
import { PolicyModel } from './core/policy-model';
import { recomputes } from './core/recomputation';
import type { SampleLimits } from './core/training-sample';
import { EngineClient } from './engine-client';
import { EnginePublisher } from './engine-publisher';
import { Examination } from './examination';
import { ProbeSet } from './probe-set';
import { VersionStore } from './version-store';

/** Everything the trainer works with that needs no bus. */
export interface Workshop {
  readonly backend: ComputeBackend;
  /** Better backends that do not load, and why. */
  readonly unavailable: Readonly<Record<string, string>>;
  readonly store: VersionStore;
  readonly model: PolicyModel;
  readonly probes: ProbeSet;
  readonly examination: Examination;
  readonly publisher: EnginePublisher;
  readonly limits: SampleLimits;
  close(): Promise<void>;
}

/** Reads the model, takes the policy's folder, loads the backend. @throws when one of them is not to be had */
export async function assemble(config: TrainerConfig, hyper: Hyperparameters): Promise<Workshop> {
  if (!existsSync(join(config.MODEL_DIR, 'config.json')))
    throw new HindcastError('config-invalid', `MODEL_DIR: there is no config.json in ${resolve(config.MODEL_DIR)}`);
  const modelConfig = await readModelConfig(config.MODEL_DIR);
  await assertTokenizerFits(config.MODEL_DIR, modelConfig);
  const { tuning, tokenBudget } = hyper;
  const store = await VersionStore.open(config.POLICY_DIR, {
    config: modelConfig,
    baseModel: config.MODEL_DIR,
    tuning,
    seed: config.SEED,
  });
  try {
    const baseWeights = await readModelWeights(config.MODEL_DIR, modelConfig);
    const { backend, unavailable } = await chooseBackend(config.BACKEND, config.THREADS, {
      bindingDir: resolve(config.TFJS_NODE_DIR),
      tf32: config.TF32,
      cudaCacheDir: resolve(config.DATA_DIR, 'cuda-cache'),
    });
    const model = new PolicyModel({
      backend,
      config: modelConfig,
      baseWeights,
      tuning,
      loss: hyper.loss,
      tokenBudget,
      recompute: recomputes(config.RECOMPUTE, backend.name, modelConfig, tokenBudget),
    });
    const bounds = { alarmNats: config.DRIFT_ALARM_NATS ?? null, refuseNats: config.DRIFT_REFUSE_NATS ?? null };
    const isBounded = bounds.alarmNats !== null || bounds.refuseNats !== null;
    const probes = await ProbeSet.open({
      modelDir: config.MODEL_DIR,
      policyDir: store.folder,
      file: config.PROBE_PROMPTS_FILE,
      limit: isBounded ? config.PROBE_ANSWERS : 0,
      maxPromptTokens: modelConfig.maxPositions - config.PROBE_MAX_TOKENS,
    });
    const examination = new Examination(model, probes, {
      bounds,
      answers: config.PROBE_ANSWERS,
      maxTokens: config.PROBE_MAX_TOKENS,
      seed: config.SEED,
    });
    const engines = config.POLICY_BASE_URL.map(
      (baseUrl) =>
        new EngineClient({
          baseUrl,
          dialect: config.POLICY_DIALECT,
          apiKey: config.POLICY_API_KEY,
          timeoutMs: config.ENGINE_TIMEOUT_MS,
          updateTimeoutMs: config.ENGINE_UPDATE_TIMEOUT_MS,
        }),
    );
    return {
      backend,
      unavailable,
      store,
      model,
      probes,
      examination,
      publisher: new EnginePublisher(engines, store, tuning.kind),
      limits: { vocabSize: modelConfig.vocabSize, maxPositions: modelConfig.maxPositions, tokenBudget },
      close: async () => {
        await backend.dispose();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
