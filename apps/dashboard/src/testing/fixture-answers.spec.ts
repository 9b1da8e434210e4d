import { answerOf } from './fixture-answers';
import type { Scenario } from './fixture-server';
import { letters } from './letters-fixture';
import { turnRows } from './turns-fixture';

const get = (path: string, scenario: Scenario) => answerOf('GET', new URL(path, 'http://localhost'), null, scenario);

describe('the fixtures', () => {
  it.each([
    '/admin/v1/session',
    '/admin/v1/overview',
    '/admin/v1/turns?limit=200',
    '/admin/v1/steps',
    '/admin/v1/policies',
    '/admin/v1/judge?days=14',
    '/admin/v1/dead-letters',
    '/admin/v1/settings',
  ])('%s keeps its contract, with data and without', (path) => {
    expect(get(path, 'full')?.status).toBe(200);
    expect(get(path, 'empty')?.status).toBe(200);
  });

  it('every turn and letter of the lists can be opened', () => {
    for (const { turnId } of turnRows) expect(get(`/admin/v1/turns/${turnId}`, 'full')?.status).toBe(200);
    for (const { sequence, at } of letters)
      expect(get(`/admin/v1/dead-letters/${sequence}/${at}`, 'full')?.status).toBe(200);
    expect(get('/admin/v1/turns/nobody', 'full')).toBeNull();
  });
});
