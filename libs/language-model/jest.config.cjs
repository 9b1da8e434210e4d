module.exports = { ...require('../../jest.preset.cjs'), displayName: 'language-model' };
