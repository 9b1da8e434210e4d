module.exports = { ...require('../../jest.preset.cjs'), displayName: 'teacher-svc' };
