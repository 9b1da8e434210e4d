module.exports = { ...require('../../jest.preset.cjs'), displayName: 'demo-judge' };
