export { ChatTemplate, type RenderOptions, type TemplateMessage } from './chat-template';
export { readModelConfig, type LlamaConfig } from './config';
export { ModelFormatError } from './errors';
export { float32Tensor, sizeOf, type HostTensor } from './host-tensor';
export { encodeSafetensors, readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors';
export { StreamDecoder } from './stream-decoder';
export { loadTokenizer, type Tokenizer } from './tokenizer';
export { readModelWeights, weightShapes, writeModelWeights } from './model-weights';
