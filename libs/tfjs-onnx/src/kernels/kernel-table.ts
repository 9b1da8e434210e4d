import { cpuAttentionKernels } from './attention';
import { creationKernels } from './creation';
import { elementwiseKernels } from './elementwise';
import { indexingKernels } from './indexing';
import type { Kernel } from './kernel';
import { matmulKernels } from './matmul';
import { cpuNormKernels } from './norm';
import { reductionKernels } from './reduction';
import { rotaryKernels } from './rotary';
import { shapeKernels } from './shape';

/** Every tfjs kernel that can be recorded, by tfjs' name. */
export const kernels: Readonly<Record<string, Kernel>> = {
  ...creationKernels,
  ...elementwiseKernels,
  ...indexingKernels,
  ...matmulKernels,
  ...reductionKernels,
  ...rotaryKernels,
  ...shapeKernels,
};

/** Further ones, for graphs that onnxruntime runs on the CPU. */
export const cpuKernels: Readonly<Record<string, Kernel>> = { ...cpuAttentionKernels, ...cpuNormKernels };
