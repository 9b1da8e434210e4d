// Where Chromium or a browser built on it is: `CHROMIUM_BIN`, the PATH, or the usual places outside it; `undefined` when there is none.
const { accessSync, constants, statSync } = require('node:fs');
const { delimiter, join } = require('node:path');

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const APPLICATIONS = ['Chromium', 'Google Chrome', 'Microsoft Edge'];

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function findBrowser() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/snap/bin'];
  const candidates = [
    process.env.CHROMIUM_BIN,
    ...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))),
    ...APPLICATIONS.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  ];
  return candidates.find((path) => path && isProgram(path));
}

/** What Playwright starts it with: no window, nothing fetched but the pages under test. */
const launchOptions = (executablePath) => ({
  executablePath,
  args: [
    // Without a user namespace, as in a container or for root, Chromium does not start with its sandbox.
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

module.exports = { findBrowser, launchOptions };
