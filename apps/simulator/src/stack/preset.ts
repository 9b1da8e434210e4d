/** Hyperparameters for the seed model and a handful of users; `.env.example` explains each. */
export const demoPreset: Readonly<Record<string, string>> = {
  BATCH_SIZE: '4',
  BATCH_MIN: '4',
  LEARNING_RATE: '1e-2',
  LR_SUCCESS_FACTOR: '0.25',
  TUNING: 'lora',
  LORA_RANK: '8',
  LORA_ALPHA: '16',
  W_RL: '0.2',
  W_OPD: '1',
  KL_COEF: '0.3',
  KL_TYPE: 'k3',
  DRIFT_ALARM_NATS: '4',
  DRIFT_REFUSE_NATS: '6',
};
