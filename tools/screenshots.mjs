// `npm run screenshots [-- --sessions N]`: the pictures of docs/dashboard.md, taken from a running demo, so that they show what there is.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import browserPaths from './find-browser.cjs';
import { giveUp, prepare, root } from './setup.mjs';

const { values } = parseArgs({
  options: { sessions: { type: 'string', default: '30' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) {
  process.stderr.write(
    'Usage: npm run screenshots [-- --sessions N]\n\nRuns a demo of N sessions (default 30) on free ports in a temporary folder and writes docs/images/dashboard/*.png.\n',
  );
  process.exit(0);
}
const executable = browserPaths.findBrowser();
if (!executable) giveUp('The pictures need Chromium: `npm run browser` installs it, or set CHROMIUM_BIN.');
await prepare();

const require = createRequire(import.meta.url);
const { chromium } = require('playwright-core');
const { withStack } = require(join(root, 'apps/simulator/dist/start-stack.js'));
const { runDemo } = require(join(root, 'apps/simulator/dist/run-demo.js'));

const OPTIONS = { persona: 'student', feedback: 'mixed', method: 'combine', seed: 1 };
const target = join(root, 'docs/images/dashboard');
const dataDir = mkdtempSync(join(tmpdir(), 'hindcast-screenshots-'));
const sessions = Number(values.sessions);
if (!Number.isInteger(sessions) || sessions < 1) giveUp('--sessions takes a whole number from 1.');

try {
  await withStack(
    { dataDir, ports: 'any', method: 'combine', feedback: 'mixed', seed: 1, environmentWins: false },
    async (stack) => {
      await runDemo(stack, { ...OPTIONS, sessions }, 300_000);
      await takePictures(stack.gatewayUrl);
    },
  );
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);

async function takePictures(gatewayUrl) {
  mkdirSync(target, { recursive: true });
  const pages = {
    overview: '/',
    turns: '/ui/turns',
    turn: `/ui/turns/${await trainedTurn(gatewayUrl)}`,
    training: '/ui/training',
    policies: '/ui/policies',
    judge: '/ui/judge',
    'dead-letters': '/ui/dead-letters',
    settings: '/ui/settings',
  };
  const browser = await chromium.launch(browserPaths.launchOptions(executable));
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(gatewayUrl + path);
      // The pages' own mark that nothing is being loaded any more.
      await page.locator('main[aria-busy="false"]').waitFor();
      await page.screenshot({ path: join(target, `${name}-${colorScheme}.png`) });
      process.stderr.write(`docs/images/dashboard/${name}-${colorScheme}.png\n`);
      if (name === 'turn') await takeTokens(page, `tokens-${colorScheme}.png`);
    }
    await page.close();
  }
  await browser.close();
}

/** The part of a turn's page that has the tokens, with the numbers of the one that was raised or lowered most. */
async function takeTokens(page, file) {
  const strongest = await page.locator('[data-token-index]').evaluateAll((tokens) => {
    const sizes = tokens.map((token) => Math.abs(Number(token.getAttribute('data-advantage'))));
    return sizes.indexOf(Math.max(...sizes));
  });
  await page.locator(`[data-token-index="${strongest}"]`).hover();
  const section = page.locator('section', { has: page.locator('[data-token-index]') });
  await section.screenshot({ path: join(target, file) });
  process.stderr.write(`docs/images/dashboard/${file}\n`);
}

/** The newest turn that both signals trained. */
async function trainedTurn(gatewayUrl) {
  const { turns } = await (await fetch(`${gatewayUrl}/admin/v1/turns?state=trained&case=opdRl&limit=1`)).json();
  if (turns.length === 0) throw new Error('no turn was trained by both signals; try more --sessions');
  return turns[0].turnId;
}
