export { CompiledFunction } from './compiled-function';
export type { CompileOptions, CompileStats } from './compiled-function';
export type { ElementType, HostData, HostTensor } from './host-tensor';
export { countKernelCalls } from './kernel-calls';
export type { KernelCalls } from './kernel-calls';
export { OnnxGraph } from './onnx-graph';
export type { OnnxAttribute, OnnxData, OnnxDim, OnnxType, OnnxValue } from './onnx-graph';
export { RECORDING_BACKEND, registerRecordingBackend } from './recording-backend';
