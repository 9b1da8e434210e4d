module.exports = { ...require('../../jest.preset.cjs'), displayName: 'tfjs-onnx' };
