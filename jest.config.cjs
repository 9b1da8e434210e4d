module.exports = {
  projects: ['<rootDir>/libs/*', '<rootDir>/apps/*', '<rootDir>/tools/seed-model'],
  // Jest takes this from the root alone when there are projects. It ends a test that hangs; it is no measure of speed.
  testTimeout: 60_000,
};
