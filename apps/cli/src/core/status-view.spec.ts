import { painter } from '@hindcast/platform/terminal';
import { overview } from '../testing/shown';
import { statusLines } from './status-view';

const frame = { url: 'http://gateway', now: 181_000, painter: painter(false, {}) };
const shown = (changed: Partial<typeof overview>): string => statusLines({ ...overview, ...changed }, frame).join('\n');

it('shows the books, the loop, the next step and the health', () => {
  const text = shown({});
  expect(text).toContain('version 2 (hindcast-v000002) since 3 min ago');
  expect(text).toContain('20 captured = 15 paired + 1 untrainable + 1 expired + 0 superseded + 0 failed + 3 open');
  expect(text).toContain('███████████████░░░░░ 3 of 4 samples');
  expect(text).toContain('1 dead letter:');
  expect(text).toMatch(/ok +trainer trainer-1 0\.1\.0/);
});

it('says what is away, and why', () => {
  const [gateway] = overview.services;
  const checks = [{ name: 'database', ok: false, detail: 'no answer' }];
  const text = shown({ ledger: null, services: [{ ...gateway!, app: 'dispatcher', ready: false, checks }] });
  expect(text).toContain('the dispatcher or its database does not answer');
  expect(text).toMatch(/away dispatcher .*: database: no answer/);
});

it('before a trainer there is no batch, and before a version the base model', () => {
  const text = shown({ batch: null, policy: { version: 0, adapter: null, since: 0, canary: null } });
  expect(text).toContain('no trainer has started yet');
  expect(text).toContain('the base model');
});

it('sums the reasons that are many', () => {
  const reasons = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`reason-${i}`, 12 - i]));
  const text = shown({ ledger: { ...overview.ledger!, status: { ...overview.ledger!.status, reasons } } });
  expect(text).toContain('12 reason-0');
  expect(text).toContain('10 others');
  expect(text).not.toContain('reason-8');
});
