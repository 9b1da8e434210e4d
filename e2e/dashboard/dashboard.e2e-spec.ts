import { decodeNumbers } from '@hindcast/contracts';
import type { Browser } from 'playwright-core';
import { status } from '../../apps/simulator/src/ledger';
import { runDemo } from '../../apps/simulator/src/run-demo';
import { scaleLimit, strengthOf } from '../../apps/dashboard/src/core/token-signals';
import { browserPath, overflowOf, startBrowser, violationsOf } from '../../apps/dashboard/src/testing/browser';
import type { Stack } from '../../apps/simulator/src/stack/stack';
import { endTemporaryStack, startTemporaryStack, turnStory } from '../stack';
import { admin, newestTurn, turnDetail } from './admin';
import { chat, eventually } from './conversation';
import { deadLetteredTurn } from './dead-letter';
import { WatchedPage, type Theme } from './watched-page';

const PAGES = {
  Overview: '/',
  Turns: '/ui/turns',
  Training: '/ui/training',
  Policies: '/ui/policies',
  Judge: '/ui/judge',
  'Dead letters': '/ui/dead-letters',
  Settings: '/ui/settings',
};

interface ShownToken {
  readonly index: number;
  readonly advantage: number;
  readonly colour: string;
  readonly sign: string;
}

// A real browser in front of the whole running system.
(browserPath === undefined ? describe.skip : describe)('the dashboard', () => {
  let stack: Stack;
  let browser: Browser;
  let turnId: string;
  const opened: WatchedPage[] = [];

  const open = async (theme?: Theme, width?: number): Promise<WatchedPage> => {
    const watched = await WatchedPage.open(browser, stack.gatewayUrl, theme, width);
    opened.push(watched);
    return watched;
  };

  beforeAll(async () => {
    stack = await startTemporaryStack();
    const options = { sessions: 10, persona: 'student', feedback: 'mixed', method: 'combine', seed: 1 } as const;
    await runDemo(stack, options, 300_000);
    turnId = await newestTurn(stack.gatewayUrl, 'state=trained&case=opdRl');
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await endTemporaryStack(stack);
  });
  afterEach(async () => {
    for (const { page, complaints } of opened.splice(0)) {
      await page.close();
      expect(complaints).toEqual([]);
    }
  });

  describe.each<Theme>(['light', 'dark'])('%s', (theme) => {
    it.each([...Object.entries(PAGES), ['Turn', '/ui/turns/:id']])(
      '%s: nothing that axe calls serious',
      async (title, path) => {
        const shown = await open(theme);
        await shown.goto(path.replace(':id', turnId));
        expect(await shown.page.locator('h1').allTextContents()).toEqual([expect.stringContaining(title)]);
        expect(await shown.page.title()).toContain('Hindcast');
        expect(await violationsOf(shown.page)).toEqual([]);
      },
    );
  });

  it.each([360, 2560])('no page is wider than a window of %i pixels', async (width) => {
    const shown = await open('light', width);
    for (const path of [...Object.values(PAGES), `/ui/turns/${turnId}`]) {
      await shown.goto(path);
      expect({ path, overflow: await overflowOf(shown.page) }).toEqual({ path, overflow: 0 });
    }
  });

  it('goes from page to page by the keyboard, and the title moves along', async () => {
    const shown = await open();
    await shown.goto('/');
    for (const title of Object.keys(PAGES)) {
      const link = shown.page.locator('nav').getByRole('link', { name: title, exact: true });
      await link.focus();
      await shown.page.keyboard.press('Enter');
      await shown.page.locator('h1', { hasText: title }).waitFor();
      expect(await shown.page.title()).toContain(title);
    }
  });

  it('shows each token with the advantage that the ledger has', async () => {
    const detail = await turnDetail(stack.gatewayUrl, turnId);
    const advantages = decodeNumbers(detail.trained!.advantages);
    const shown = await open();
    await shown.goto(`/ui/turns/${turnId}`);
    const tokens = await shown.page.evaluate<
      ShownToken[]
    >(`[...document.querySelectorAll('[data-token-index]')].map((element) => ({
      index: Number(element.getAttribute('data-token-index')),
      advantage: Number(element.getAttribute('data-advantage')),
      colour: getComputedStyle(element).backgroundColor,
      sign: element.getAttribute('data-sign'),
    }))`);
    expect(tokens.map(({ index }) => index)).toEqual([...advantages.keys()]);
    expect(tokens.map(({ advantage }) => advantage)).toEqual([...advantages]);
    const limit = scaleLimit(advantages);
    const alphas = tokens.map(({ colour }) =>
      Number(/\/ ([\d.e-]+)\)$/.exec(colour)?.[1] ?? (colour.includes('rgba') ? 0 : 1)),
    );
    for (const [t, advantage] of advantages.entries()) expect(alphas[t]).toBeCloseTo(strengthOf(advantage, limit), 2);
    // Without its strength, a colour says which way.
    const hues = (isSuch: (advantage: number) => boolean): Set<string> =>
      new Set(tokens.filter(({ advantage }) => isSuch(advantage)).map(({ sign }) => sign));
    expect(hues((advantage) => advantage > 0)).toEqual(new Set(['raised']));
    expect(hues((advantage) => advantage < 0)).toEqual(new Set(['lowered']));
  });

  it('feedback that a person gives there decides the turn', async () => {
    const { turnId: asked } = await chat(stack, [{ role: 'user', content: 'What is a comet?' }]);
    const shown = await open();
    await eventually(async () => (await turnStory(stack, asked))['state'] === 'open');
    await shown.goto(`/ui/turns/${asked}`);
    await shown.page.getByRole('radio', { name: 'Failed' }).check();
    await shown.page.getByLabel('Correction').fill('Say kindly and at length what a comet is made of.');
    await shown.page.getByRole('button', { name: 'Send feedback' }).click();
    await shown.page.getByRole('status').filter({ hasText: /\S/ }).first().waitFor();
    await eventually(async () => (await turnStory(stack, asked))['reward'] === -1);
    expect(await turnStory(stack, asked)).toMatchObject({ case: 'opdRl', rewardSource: 'feedback', reward: -1 });
  });

  it('a dead letter that is replayed there is decided', async () => {
    const dead = await deadLetteredTurn(stack);
    expect(await turnStory(stack, dead)).toMatchObject({ case: 'drop', reason: 'dead-letter:max-deliveries' });
    const shown = await open();
    await shown.goto('/ui/dead-letters');
    await shown.page
      .getByRole('row', { name: new RegExp(dead.slice(0, 8)) })
      .getByText('Inspect')
      .click();
    await shown.page
      .getByRole('region', { name: /^Letter \d+$/ })
      .getByRole('button', { name: /^Replay/ })
      .click();
    await eventually(async () => (await turnStory(stack, dead))['rewardSource'] === 'votes');
    expect(String((await turnStory(stack, dead))['reason'])).not.toContain('dead-letter');
    await eventually(
      async () => (await admin<{ letters: [] }>(stack.gatewayUrl, '/dead-letters')).letters.length === 0,
    );
  });

  it('compares two versions, and goes back to the earlier one', async () => {
    const before = (await status(stack.gatewayUrl)).policyVersion;
    expect(before).toBeGreaterThan(0);
    const shown = await open();
    await shown.goto('/ui/policies');
    await shown.page.getByLabel('Prompt').fill('What is a star?');
    await shown.page.getByRole('button', { name: 'Ask both' }).click();
    for (const side of ['Left', 'Right']) {
      const answer = shown.page.getByRole('region', { name: `${side} answer` });
      await answer.getByText(/tokens? · after/).waitFor();
      expect(await answer.getByText(/answered by/).count()).toBe(0);
    }

    await shown.page.getByRole('button', { name: 'Roll back to the base model' }).click();
    await shown.page.getByRole('dialog').getByRole('button', { name: 'Roll back', exact: true }).click();
    await eventually(async () => {
      const { policy } = await admin<{ policy: { version: number } }>(stack.gatewayUrl, '/overview');
      return policy.version === 0;
    });
    const { model } = await chat(stack, [{ role: 'user', content: 'What is a moon?' }]);
    expect(model).toBe('seed');
  });
});
