import type { Browser, ConsoleMessage, Page } from 'playwright-core';
import { loaded } from '../../apps/dashboard/src/testing/browser';

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
    await loaded(this.page);
  }
}
