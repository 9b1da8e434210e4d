import { commonConfig } from '@hindcast/platform';
import { z } from 'zod';

export const EngineConfig = commonConfig(8000).extend({
  /** A Hugging Face directory: config.json, tokenizer.json, tokenizer_config.json with a chat template, safetensors. */
  MODEL_DIR: z.string().default('models/seed'),
  /** The base model's name in requests. */
  SERVED_MODEL_NAME: z.string().default('seed'),
  /** Answers that are generated at once; further requests wait. */
  MAX_BATCH: z.coerce.number().int().min(1).max(512).default(16),
  /** Threads of one forward pass. One is fastest for models of a few million weights. */
  THREADS: z.coerce.number().int().min(1).max(256).default(1),
  /** Adapters that may be loaded at once; each takes as much memory as the base model. */
  MAX_LORAS: z.coerce.number().int().min(0).max(1024).default(8),
});
export type EngineConfig = z.infer<typeof EngineConfig>;
