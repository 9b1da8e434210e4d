module.exports = { ...require('../../jest.preset.cjs'), displayName: 'seed-world' };
