export { OnnxGraph } from './onnx-graph';
export type { OnnxAttribute, OnnxData, OnnxDim, OnnxType, OnnxValue } from './onnx-graph';
