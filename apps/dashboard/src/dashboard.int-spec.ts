import type { Browser, Page } from 'playwright-core';
import { browserPath, DIST, ensurePageBuilt, loaded, overflowOf, startBrowser, violationsOf } from './testing/browser';
import { startFixtureServer, type FixtureServer, type Scenario } from './testing/fixture-server';
import { openPage, type OpenPage } from './testing/open-page';

// A browser on a loaded machine takes its time.
jest.setTimeout(120_000);

const PATHS = ['/', '/ui/turns', '/ui/training', '/ui/policies', '/ui/judge', '/ui/dead-letters', '/ui/settings'];

// The built page in a real browser, before made-up data; e2e/dashboard has it before the running system.
(browserPath === undefined ? describe.skip : describe)('the page', () => {
  let browser: Browser;
  let opened: OpenPage;
  let page: Page;
  let server: FixtureServer;

  beforeAll(async () => {
    ensurePageBuilt();
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await page.close();
    await server.close();
  });

  async function open(
    scenario: Scenario,
    path: string,
    options: { theme?: string; width?: number } = {},
  ): Promise<void> {
    opened = await openPage(browser, path, { scenario, ...options });
    ({ page, server } = opened);
  }

  describe.each(['empty', 'failing'] as const)('with a loop that is %s', (scenario) => {
    it.each(PATHS)('%s says so, to everybody, in both themes, also on a narrow screen', async (path) => {
      await open(scenario, path, { theme: 'dark', width: 360 });
      await loaded(page);
      if (scenario === 'failing' && path !== '/')
        await page.locator('main').getByRole('button', { name: 'Try again' }).first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await violationsOf(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(opened.errors).toEqual([]);
    });
  });

  it('says what it loads while it loads', async () => {
    await open('slow', '/ui/turns');
    await page.locator('main[aria-busy="true"]').getByText('Loading the turns…').waitFor();
    await page.getByRole('table').waitFor();
    await loaded(page);
  });

  it('a base model that serves from the beginning has no time since when', async () => {
    await open('empty', '/');
    await page.getByText('the base model', { exact: true }).waitFor();
    expect(await page.getByText('1970').count()).toBe(0);
  });

  it('asks for a key, keeps it in this tab alone, and forgets it', async () => {
    await open('locked', '/ui/turns');
    const field = page.getByLabel('Admin key');
    await field.and(page.locator(':focus')).waitFor();
    await field.fill('guessed');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'The gateway does not know this key.' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await field.fill('open sesame');
    await page.keyboard.press('Enter');
    await page.getByRole('table').waitFor();
    expect(page.url()).not.toContain('sesame');
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, document.cookie])')).toBe('[{},""]');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await field.waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('says how many turns are new, and moves no row before it is told to', async () => {
    await open('full', '/ui/turns');
    const first = page.locator('tbody tr').first().getByRole('link');
    const shown = await first.getAttribute('href');
    const fresh = page.getByRole('button', { name: /^Show \d+ new turns?$/ });
    await fresh.waitFor();
    expect(await first.getAttribute('href')).toBe(shown);
    await fresh.click();
    await page.locator(`tbody tr:first-child a:not([href="${shown}"])`).waitFor();
    await fresh.waitFor();
  });

  it('filters while somebody types; what does not fit filters nothing, and is cleared, too', async () => {
    await open('full', '/ui/turns?version=44');
    await loaded(page);
    await page.getByRole('searchbox', { name: 'Text' }).pressSequentially('tide');
    await page.waitForURL(/text=tide/);
    await page.getByRole('searchbox', { name: 'Version' }).fill('abc');
    await page.getByText('a whole number; the list is not filtered by it').waitFor();
    await page.waitForURL((url) => !url.searchParams.has('version'));
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL((url) => url.search === '');
    expect(await page.getByRole('searchbox', { name: 'Version' }).inputValue()).toBe('');
  });

  it('cuts nothing of what is wrong', async () => {
    await open('full', '/');
    await page.getByRole('table', { name: 'Health of every part' }).waitFor();
    const cut = (): Promise<number> =>
      page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.health').parentElement)`,
      );
    for (const width of [360, 800, 1_280, 1_600]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await cut()]).toEqual([width, 0]);
    }
  });

  it('marks the token alone whose numbers it shows, and has feedback clear its form', async () => {
    await open('full', '/ui/turns/long');
    await page.locator('[data-token-index="3"]').focus();
    await page.locator('[data-token-index="5"]').hover();
    expect(await page.locator('[data-shown]').getAttribute('data-token-index')).toBe('5');
    await page.getByText('feedback is recorded, but no longer changes').waitFor();
    await page.getByText('Choose first how the answer was.').waitFor();
    await page.getByRole('radio', { name: 'worked' }).check();
    await page.getByLabel('Comment').fill('Short and right.');
    await page.getByRole('button', { name: 'Send feedback' }).click();
    await page
      .getByText(/^Accepted/)
      .first()
      .waitFor();
    expect(await page.getByLabel('Comment').inputValue()).toBe('');
    expect(await page.getByRole('radio', { name: 'worked' }).isChecked()).toBe(false);
  });

  it('finds its gateway again, and asks for what it missed', async () => {
    await open('full', '/ui/turns');
    await page.getByText('Live', { exact: true }).waitFor();
    const port = Number(new URL(server.url).port);
    await server.close();
    await page.getByText('Connection lost').waitFor();
    server = await startFixtureServer(DIST, 'full', port);
    const asked = page.waitForRequest((request) => request.url().includes('/admin/v1/turns'));
    await page.getByText('Live', { exact: true }).waitFor();
    await asked;
  });

  it('reads again by itself what could not be read once the ledger is back', async () => {
    server = await startFixtureServer(DIST, 'full');
    page = await browser.newPage();
    let isAway = true;
    await page.route('**/admin/v1/policies?*', (route) =>
      isAway ? route.fulfill({ status: 503, json: { error: { message: 'away' } } }) : route.continue(),
    );
    await page.goto(`${server.url}/ui/policies`);
    await page.getByText('The versions could not be read.').waitFor();
    isAway = false;
    await page.locator('tbody tr').first().waitFor();
    expect(await page.getByText('could not be read').count()).toBe(0);
  });

  describe('of a turn of 8,000 tokens', () => {
    const count = (selector: string): Promise<number> => page.locator(selector).count();
    const focused = (): Promise<unknown> => page.evaluate('Number(document.activeElement.dataset.tokenIndex)');

    it('has every token, one stop for the Tab key, and arrow keys from one to the next', async () => {
      await open('full', '/ui/turns/long');
      await page.locator('[data-token-index="7999"]').waitFor({ state: 'attached' });
      expect(await count('[data-token-index]')).toBe(8_000);
      expect(await count('[data-token-index][tabindex="0"]')).toBe(1);
      await page.locator('[data-token-index="0"]').focus();
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe(1);
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBeGreaterThan(2);
      await page.keyboard.press('ArrowUp');
      expect(await focused()).toBeLessThan(8);
      await page.keyboard.press('End');
      expect(await focused()).toBe(7_999);
      expect(await page.locator('#token-details').textContent()).toContain('token 7999');
      expect(await count('[data-token-index][tabindex="0"]')).toBe(1);
    });

    it('draws only the rows of the table that are in sight, wherever it is scrolled to', async () => {
      await open('full', '/ui/turns/long');
      await page.getByRole('button', { name: 'Table' }).click();
      const rows = page.locator('.token-table tbody tr[aria-rowindex]');
      await rows.first().waitFor();
      expect(await rows.count()).toBeLessThan(80);
      await page.locator('.token-table').evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await page.locator('.token-table tr[aria-rowindex="8001"]').waitFor();
      expect(await rows.count()).toBeLessThan(80);
    });
  });
});
