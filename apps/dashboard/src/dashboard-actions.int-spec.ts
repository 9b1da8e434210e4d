import type { Browser, Locator, Page } from 'playwright-core';
import { browserPath, ensurePageBuilt, loaded, overflowOf, startBrowser, violationsOf } from './testing/browser';
import type { Scenario } from './testing/fixture-server';
import { openPage, type OpenPage } from './testing/open-page';

// A browser beside many other tests is slow.
jest.setTimeout(120_000);
const PATHS = ['/ui/training', '/ui/policies', '/ui/judge', '/ui/dead-letters?tenant=support', '/ui/settings'];

// What a person does on the pages about training, versions, judge, dead letters and settings, in a real browser, before made-up data.
(browserPath === undefined ? describe.skip : describe)('the page', () => {
  let browser: Browser;
  let opened: OpenPage;
  let page: Page;

  beforeAll(async () => {
    ensurePageBuilt();
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    expect([...opened.errors, ...opened.logged]).toEqual([]);
    await opened.close();
  });

  async function open(path: string, options: { scenario?: Scenario; width?: number } = {}): Promise<void> {
    opened = await openPage(browser, path, options);
    ({ page } = opened);
    await loaded(page);
  }
  const button = (name: string | RegExp, within: Page | Locator = page): Locator =>
    within.getByRole('button', { name, exact: typeof name === 'string' });
  const dialog = (): Locator => page.getByRole('dialog');

  it.each(PATHS)('%s is without a serious violation, in both themes, and fits 360 px', async (path) => {
    await open(path, { width: 360 });
    await page.locator('main h2, main h3').first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violationsOf(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
  });

  it('reads as many steps as were asked for, and says how far it is', async () => {
    await open('/ui/training', { scenario: 'slow' });
    await page.getByRole('combobox', { name: 'Steps' }).selectOption('200');
    await page.getByRole('meter', { name: 'Steps read' }).waitFor();
    await page.getByText('of 200 versions; the charts mark them').waitFor();
  });

  it('tells a chart in words and as a table, and hides a line', async () => {
    await open('/ui/training');
    const chart = page.getByRole('figure', { name: 'Teacher–student gap' });
    expect(await chart.locator('figcaption').innerText()).toMatch(
      /mean: last .* nats at step 340, lowest .*, highest .*, none at \d of 50/,
    );
    await button(/Show as table/, chart).click();
    // Step 333 had no sample with a teacher: a gap, not 0.
    expect(await chart.getByRole('row', { name: /^333/ }).innerText()).toMatch(/333\s+–/);
    const loss = page.getByRole('figure', { name: 'Loss' });
    const line = button(/^policy/, loss);
    await line.click();
    expect(await line.getAttribute('aria-pressed')).toBe('false');
  });

  it('moves the cursors of all charts together', async () => {
    await open('/ui/training');
    const box = (await page.locator('.plot').first().boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => !document.querySelector('.chart-place')!.textContent!.includes('340'));
    const places = await page.locator('.chart-place').allInnerTexts();
    expect(new Set(places).size).toBe(1);
  });

  it('goes back to a version after a question, and shows what becomes of it until it serves', async () => {
    await open('/ui/policies');
    expect(await button('Roll back to version 29').count()).toBe(0);
    await page.getByText('its weights are deleted').first().waitFor();
    await button('Roll back to version 41').click();
    await dialog().getByText('Versions 42, 43, 44 and 45 will be recorded as rolled back').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Reason').fill('lists came back');
    await button('Roll back', dialog()).click();
    await page.getByText('Waiting for the trainer').waitFor();
    await page.getByText('Version 41 serves again.').waitFor();
    await page.getByText('because: lists came back').waitFor();
  });

  it('asks two versions the same, and shows how the answers come and what goes wrong', async () => {
    await open('/ui/policies');
    await page.getByLabel('Prompt').fill('Which file is newer?');
    await button('Ask both').click();
    const left = page.getByRole('region', { name: 'Left answer' });
    await left.getByText(/\d+ tokens · after 14 tokens of prompt · ended by stop/).waitFor();
    expect(await left.innerText()).toContain('A list is not needed here');
    await page.getByLabel('Prompt').fill('fail');
    await button('Ask both').click();
    await left.getByRole('alert').waitFor();
    expect(await left.getByRole('alert').innerText()).toBe('The engine went away.');
  });

  it('shows a dead letter, replays it, asks before it forces, and says the outcome', async () => {
    await open('/ui/dead-letters');
    await button('Inspect letter 60').click();
    await page.getByRole('group', { name: 'Message', exact: true }).waitFor();
    await button(/Show \d+ more lines/).click();
    await button('Show less').waitFor();
    await button('Replay letter 60').first().click();
    await page.locator('main').getByText('It still breaks its contract').waitFor();
    await button('Replay all the same…').click();
    await button('Replay', dialog()).click();
    await page.locator('main').getByText('It is on its way').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  it('discards a dead letter only after a question', async () => {
    await open('/ui/dead-letters');
    await button('Discard letter 62').click();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'hidden' });
    expect(await page.locator('main').getByText('gone for good').count()).toBe(0);
    await button('Discard letter 62').click();
    await button('Discard', dialog()).click();
    await page.locator('main').getByText('It is gone for good.').waitFor();
  });

  it('finds a setting by its name, marks what replicas differ in, and shows no secret', async () => {
    await open('/ui/settings');
    const gateway = page.getByRole('region', { name: 'gateway' });
    await gateway.getByText('2 differing').waitFor();
    await page.getByLabel('Name').fill('password');
    await page.getByText('5 settings of 5 services').waitFor();
    expect(await gateway.getByRole('row', { name: /NATS_PASSWORD/ }).innerText()).toContain('set, hidden');
  });
});
