const preset = require('../../jest.preset.cjs');

// The Parquet packages are ES modules only, which jest does not load as they are.
const [[, swc]] = Object.entries(preset.transform);
module.exports = {
  ...preset,
  displayName: 'dispatcher',
  transform: { ...preset.transform, '/node_modules/hyparquet[^/]*/.+\\.js$': swc },
  transformIgnorePatterns: ['/node_modules/(?!hyparquet)'],
};
