import { endedPart } from './ended-part';

const logFile = '/data/logs/engine.log';

it('says which part ended, how, where its log is, and how to have it again', () => {
  const text = endedPart({ name: 'engine', ending: { code: null, signal: 'SIGKILL' }, logFile, again: 'npm run x' });
  expect(text).toBe(
    'engine ended (SIGKILL); its log is /data/logs/engine.log. Stop everything with Ctrl-C and start it again, or it alone: npm run x',
  );
});

it('names no command for a part that has none', () =>
  expect(endedPart({ name: 'nats-server', ending: { code: 1, signal: null }, logFile, again: null })).toMatch(
    /ended \(code 1\).* start it again$/,
  ));
