import axe from 'axe-core';
import { chromium, type Browser, type ConsoleMessage, type Page } from 'playwright-core';

interface BrowserPaths {
  findBrowser(): string | undefined;
  launchOptions(executablePath: string): { executablePath: string; args: string[] };
}
// eslint-disable-next-line @typescript-eslint/no-require-imports
const paths = require('../../tools/find-browser.cjs') as BrowserPaths;

/** Path of a browser on this machine; without one the tests of the page are skipped (`npm run browser` installs one). */
export const browserPath = paths.findBrowser();

export const startBrowser = (): Promise<Browser> => chromium.launch(paths.launchOptions(browserPath!));

export type Theme = 'light' | 'dark';

/** A page that keeps what the console complained about. */
export class WatchedPage {
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly origin: string,
  ) {
    page.on('console', (message: ConsoleMessage) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.complaints.push(`${page.url()}: ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.complaints.push(`${page.url()}: ${error.message}`));
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText ?? '';
      // What a page asked for is given up when it is left.
      if (why !== 'net::ERR_ABORTED') this.complaints.push(`${request.url()}: ${why}`);
    });
  }

  static async open(browser: Browser, origin: string, theme: Theme = 'light', width = 1280): Promise<WatchedPage> {
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: theme });
    return new WatchedPage(page, origin);
  }

  /** Goes to a path and waits until what the page shows at first is there. */
  async goto(path: string): Promise<void> {
    await this.page.goto(this.origin + path);
    await this.loaded();
  }

  async loaded(): Promise<void> {
    await this.page.locator('main[aria-busy="false"]').waitFor({ timeout: 60_000 });
  }

  /** Serious and critical violations that axe finds, a line each. */
  async violations(): Promise<string[]> {
    // By the protocol, not as a script of the page: its Content-Security-Policy allows its own scripts only.
    await this.page.evaluate(axe.source);
    const { violations } = await this.page.evaluate<AxeResults>('axe.run(document)');
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
  }

  /** Pixels by which the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact?: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}
