import { closingWords } from './closing-words';

const place = {
  gatewayUrl: 'http://127.0.0.1:8080',
  logFolder: '/data/logs',
  model: 'hindcast',
  asksForKey: false,
  isElsewhere: false,
};

it('names the dashboard, the command line and a request', () => {
  const text = closingWords(place).join('\n');
  expect(text).toContain('Dashboard: http://127.0.0.1:8080/\n');
  expect(text).toMatch(/npx hindcast chat$/m);
  expect(text).toMatch(/npx hindcast status$/m);
  expect(text).toContain('curl -N http://127.0.0.1:8080/v1/chat/completions');
  expect(text).not.toContain('HINDCAST_API_KEY');
});

it('says what a key goes into, and where a gateway is that is not found by itself', () => {
  const text = closingWords({ ...place, asksForKey: true, isElsewhere: true }).join('\n');
  expect(text).toContain('npx hindcast chat --gateway http://127.0.0.1:8080');
  expect(text).toContain('-H "authorization: Bearer $HINDCAST_API_KEY"');
});
