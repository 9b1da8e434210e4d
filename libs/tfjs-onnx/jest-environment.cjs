// Jest runs tests in a context of its own, with its own Float32Array and so on. onnxruntime's native code makes arrays of
// the main context, and onnxruntime-common refuses those. Sharing the main context's arrays makes both the same.
const { TestEnvironment } = require('jest-environment-node');

module.exports = class SharedArraysEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    Object.assign(this.global, {
      Float32Array,
      Float64Array,
      Int8Array,
      Int16Array,
      Int32Array,
      Uint8Array,
      Uint8ClampedArray,
      Uint16Array,
      Uint32Array,
      BigInt64Array,
      BigUint64Array,
    });
  }
};
