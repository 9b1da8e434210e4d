import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

interface BrowserPaths {
  findBrowser(): string | undefined;
  launchOptions(executablePath: string): { executablePath: string; args: string[] };
}
// eslint-disable-next-line @typescript-eslint/no-require-imports
const paths = require('../../../../tools/find-browser.cjs') as BrowserPaths;

const HERE = join(__dirname, '../..');
export const DIST = join(HERE, 'dist');

/** Path of a browser on this machine; without one the tests of the page are skipped (`npm run browser` installs one). */
export const browserPath = paths.findBrowser();
export const startBrowser = (): Promise<Browser> => chromium.launch(paths.launchOptions(browserPath!));

/** Builds the page where its sources are newer. */
export function ensurePageBuilt(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(HERE, 'build.mjs')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** Waits until nothing of the page is awaited any more. */
export const loaded = (page: Page): Promise<void> =>
  page.locator('main[aria-busy="false"]').waitFor({ timeout: 60_000 });

/** Serious and critical violations that axe finds, a line each. */
export async function violationsOf(page: Page): Promise<string[]> {
  // By the protocol, not as a script of the page: its Content-Security-Policy allows its own scripts only.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run(document)');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

/** Pixels by which the page is wider than its window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
