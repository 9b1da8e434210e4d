import { hyperparametersOf, readConfig } from './config';

describe('the configuration', () => {
  it('is the service preset by default', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      PORT: 8084,
      POLICY_DIR: '.data/policies',
      BATCH_SIZE: 16,
      BATCH_MIN: 4,
      BACKEND: 'auto',
      POLICY_BASE_URL: ['http://127.0.0.1:8000/v1'],
    });
    expect(hyperparametersOf(config)).toMatchObject({
      wRl: 1,
      wOpd: 1,
      learningRate: 1e-5,
      oldLogProbs: 'rollout',
      reduction: 'sample-mean',
      loss: { clip: { epsilonLow: 0.2, epsilonHigh: 0.28, dualClip: null }, klCoef: 0, entropyCoef: 0 },
    });
  });

  it('has every option of loss and step, off by default', () => {
    expect(hyperparametersOf(readConfig({}))).toMatchObject({
      preset: 'balanced',
      schedule: { kind: 'constant', warmupSteps: 0, totalSteps: null },
      adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 },
      epochs: 1,
      miniBatches: 1,
      targetKl: null,
      loss: { topKCoef: 0, measuresKl: false, measuresEntropy: false },
    });
    const env = {
      BALANCE_PRESET: 'explicit-feedback',
      LR_SCHEDULE: 'cosine',
      LR_WARMUP_STEPS: '5',
      LR_TOTAL_STEPS: '100',
      ADAM_BETA1: '0.8',
      ADAM_BETA2: '0.95',
      ADAM_EPSILON: '1e-6',
      WEIGHT_DECAY: '0.1',
      EPOCHS: '4',
      MINI_BATCHES: '2',
      TARGET_KL: '0.02',
      TOP_K_COEF: '0.5',
      KL_ALARM_NATS: '1',
      ENTROPY_ALARM_NATS: '2',
      SEED: '7',
    };
    expect(hyperparametersOf(readConfig(env))).toMatchObject({
      preset: 'explicit-feedback',
      schedule: { kind: 'cosine', warmupSteps: 5, totalSteps: 100 },
      adam: { beta1: 0.8, beta2: 0.95, epsilon: 1e-6, weightDecay: 0.1 },
      epochs: 4,
      miniBatches: 2,
      targetKl: 0.02,
      loss: { topKCoef: 0.5, klCoef: 0, measuresKl: true, measuresEntropy: true },
      seed: 7,
    });
  });

  it('reads the demo preset', () => {
    const config = readConfig({
      BATCH_SIZE: '4',
      LORA_RANK: '8',
      LORA_ALPHA: '16',
      LEARNING_RATE: '5e-3',
      W_RL: '0.2',
      KL_COEF: '0.3',
      LR_SUCCESS_FACTOR: '0.25',
      DRIFT_ALARM_NATS: '4',
      DRIFT_REFUSE_NATS: '6',
    });
    expect(config).toMatchObject({ BATCH_MIN: 1, DRIFT_ALARM_NATS: 4, DRIFT_REFUSE_NATS: 6 });
    expect(hyperparametersOf(config)).toMatchObject({
      wRl: 0.2,
      learningRate: 0.005,
      successFactor: 0.25,
      loss: { klCoef: 0.3, klType: 'k3' },
    });
  });

  it.each([
    { env: { BATCH_SIZE: '2', BATCH_MIN: '3' }, mistake: /BATCH_MIN: is larger than BATCH_SIZE/ },
    {
      env: { LR_SCHEDULE: 'cosine', LR_TOTAL_STEPS: '5', LR_WARMUP_STEPS: '5' },
      mistake: /LR_WARMUP_STEPS: is not smaller/,
    },
    { env: { LR_SCHEDULE: 'linear' }, mistake: /LR_TOTAL_STEPS: is needed by LR_SCHEDULE=linear and cosine/ },
    {
      env: { LORA_RANK_STABILISED: '1', POLICY_DIALECT: 'sglang' },
      mistake: /LORA_RANK_STABILISED: cannot be served by SGLang/,
    },
    { env: { KL_TYPE: 'k4', BACKEND: 'torch' }, mistake: /BACKEND[\s\S]*KL_TYPE/ },
    { env: { POLICY_BASE_URL: 'http://a/v1,not a url' }, mistake: /POLICY_BASE_URL/ },
    // "localhost:" is a scheme to the URL standard.
    { env: { POLICY_BASE_URL: 'localhost:8000/v1' }, mistake: /POLICY_BASE_URL/ },
    // Timers of Node go off at once beyond 2³¹ − 1 ms.
    {
      env: { RECONCILE_MS: '2147483648', ENGINE_TIMEOUT_MS: '99999999999' },
      mistake: /RECONCILE_MS[\s\S]*ENGINE_TIMEOUT_MS/,
    },
    // Samples beyond those that are held never come, so the batch would never be full.
    { env: { BATCH_SIZE: '4097' }, mistake: /BATCH_SIZE/ },
    // Infinite in float32: every step would be refused, and with it every sample.
    { env: { LORA_ALPHA: '1e300', KL_COEF: '1e40', W_RL: '1e308' }, mistake: /W_RL[\s\S]*LORA_ALPHA[\s\S]*KL_COEF/ },
    { env: { LORA_RANK: '1000000000', THREADS: '100000' }, mistake: /THREADS[\s\S]*LORA_RANK/ },
  ])('refuses $env', ({ env, mistake }) => {
    expect(() => readConfig(env)).toThrow(mistake);
  });

  it('adapts a module that is named twice once', () => {
    expect(readConfig({ LORA_TARGETS: 'v_proj,q_proj,v_proj' }).LORA_TARGETS).toEqual(['v_proj', 'q_proj']);
  });

  it('counts an engine that is named twice once: a trial needs another one to compare with', () => {
    expect(readConfig({ POLICY_BASE_URL: 'http://a/v1, http://a/v1/,http://b/v1' }).POLICY_BASE_URL).toEqual([
      'http://a/v1',
      'http://b/v1',
    ]);
  });
});
