module.exports = { ...require('../../jest.preset.cjs'), displayName: 'judge-svc' };
