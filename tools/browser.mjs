// `npm run browser`: Chromium for the tests of the dashboard and for `npm run screenshots`, through the system's package manager.
import { spawnSync } from 'node:child_process';
import browser from './find-browser.cjs';

const say = (text) => process.stderr.write(`${text}\n`);
const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
const run = (command, ...args) => spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status === 0;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  say('Usage: npm run browser\n\nInstalls Chromium where there is none. CHROMIUM_BIN names one elsewhere.');
} else if (browser.findBrowser()) {
  say(`There is a browser already: ${browser.findBrowser()}`);
} else {
  install();
  if (browser.findBrowser()) say(`Installed: ${browser.findBrowser()}`);
  else {
    say('No browser could be installed. Install Chromium or Chrome, or set CHROMIUM_BIN to the path of one.');
    process.exitCode = 3;
  }
}

function install() {
  if (has('brew')) return run('brew', 'install', '--cask', 'chromium');
  if (!has('apt-get')) return false;
  const root =
    process.getuid?.() === 0
      ? []
      : has('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0
        ? ['sudo', '-n']
        : null;
  if (root === null) return false;
  const apt = (...args) => {
    const [command, ...rest] = [...root, 'apt-get', ...args];
    return run(command, ...rest);
  };
  say('Installing chromium (apt-get, about 350 MB)…');
  const install = () => apt('install', '-y', '-q', '--no-install-recommends', 'chromium');
  return install() || (apt('update', '-q') && install());
}
