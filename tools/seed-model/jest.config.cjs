module.exports = { ...require('../../jest.preset.cjs'), displayName: 'seed-model' };
