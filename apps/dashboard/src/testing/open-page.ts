import type { Browser, Page } from 'playwright-core';
import { DIST } from './browser';
import { startFixtureServer, type FixtureServer, type Scenario } from './fixture-server';

/** A page of the built dashboard, before made-up data. */
export interface OpenPage {
  readonly page: Page;
  readonly server: FixtureServer;
  /** What nothing on the page caught. */
  readonly errors: readonly string[];
  /** Errors on the console; answers with an error are among them. */
  readonly logged: readonly string[];
  close(): Promise<void>;
}

/** @param width of the window, in CSS pixels */
export async function openPage(
  browser: Browser,
  path: string,
  { scenario = 'full' as Scenario, theme = 'light', width = 1_280 } = {},
): Promise<OpenPage> {
  const errors: string[] = [];
  const logged: string[] = [];
  const server = await startFixtureServer(DIST, scenario);
  const page = await browser.newPage({
    viewport: { width, height: 800 },
    colorScheme: theme === 'dark' ? 'dark' : 'light',
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => void (message.type() === 'error' && logged.push(message.text())));
  await page.goto(server.url + path);
  return {
    page,
    server,
    errors,
    logged,
    close: async () => {
      await page.close();
      await server.close();
    },
  };
}
