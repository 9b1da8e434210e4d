// `@hindcast/language-model/text`: templates and tokenizers without tensors. The gateway must not load TensorFlow.js.
export { byteLevelBytes } from './byte-level';
export { ChatTemplate, type RenderOptions, type TemplateMessage } from './chat-template';
export { readJson } from './config';
export { ModelFormatError } from './errors';
export { textEncoder, type TextEncoder } from './text-encoder';
