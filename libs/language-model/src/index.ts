export { writeAtomically } from './atomic-file';
export { candidateLogProbs, type CandidateLogProbs } from './candidate-log-probs';
export { ChatTemplate, type RenderOptions, type TemplateMessage } from './chat-template';
export { readModelConfig, type LlamaConfig } from './config';
export { ModelFormatError } from './errors';
export { float32Tensor, sizeOf, type HostTensor } from './host-tensor';
export { DROPOUT_MODULUS, dropoutKeys, dropoutMask, type LoraDropout } from './lora-dropout';
export { type LoraTensors, type Weights } from './linear';
export { loraName, parseLoraName } from './lora-names';
export {
  initLora,
  loraModules,
  loraTargets,
  mergeLora,
  type LoraModule,
  type LoraSettings,
  type LoraTarget,
} from './lora';
export { exportMerged, type MergedExport } from './merged-export';
export { copyCompanionFiles } from './model-files';
export { readModelWeights, writeModelWeights } from './model-weights';
export { readPeftAdapter, writePeftAdapter, type PeftAdapter } from './peft-adapter';
export { mulberry32 } from './random';
export { Checkpoint } from './checkpoint';
export { SafetensorsFile } from './safetensors-file';
export { encodeSafetensors, readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors';
export { rotationFrequency } from './rope';
export { type Llama3RopeScaling } from './rope-config';
export { logSoftmax, sampleToken, topTokens, type SampledToken, type SamplingOptions } from './sampling';
export { StreamDecoder } from './stream-decoder';
export { LOGIT_CHUNK, tokenLogProbs, tokenLogProbsAndEntropies, type LogProbOptions } from './token-log-probs';
export { loadTokenizer, type Tokenizer } from './tokenizer';
export { assertTokenizerFits } from './tokenizer-fit';
export { weightShapes } from './weight-shapes';
export { type NeededRows } from './needed-rows';
export { forwardCached, forwardHidden, logits, type ForwardOptions, type LayerCache } from './transformer';
