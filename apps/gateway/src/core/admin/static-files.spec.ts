import { acceptedEncoding, cacheControl, contentType, type Encoding } from './static-files';

describe('the encoding of a file', () => {
  const both: Encoding[] = ['br', 'gzip'];
  it.each<{ header: string | undefined; offered: Encoding[]; encoding: Encoding | null }>([
    { header: undefined, offered: both, encoding: null },
    { header: '', offered: both, encoding: null },
    { header: 'gzip, deflate, br, zstd', offered: both, encoding: 'br' },
    { header: 'gzip', offered: both, encoding: 'gzip' },
    { header: 'GZIP;q=0.5', offered: both, encoding: 'gzip' },
    { header: 'br;q=0, gzip', offered: both, encoding: 'gzip' },
    { header: 'br; q=0.0, *;q=0', offered: both, encoding: null },
    { header: '*', offered: both, encoding: 'br' },
    { header: '*, br;q=0', offered: both, encoding: 'gzip' },
    { header: 'identity', offered: both, encoding: null },
    { header: 'br;q=nonsense', offered: ['br'], encoding: null },
    { header: 'gzip, br', offered: ['gzip'], encoding: 'gzip' },
    { header: 'gzip, br', offered: [], encoding: null },
  ])('$header of $offered: $encoding', ({ header, offered, encoding }) => {
    expect(acceptedEncoding(header, offered)).toBe(encoding);
  });
});

it('what has a hash in its name is kept for ever, the page never', () => {
  expect(cacheControl('assets/index-C0ffee.js')).toBe('public, max-age=31536000, immutable');
  expect(cacheControl('index.html')).toBe('no-store');
});

it('no file is of a type that a browser would guess at', () => {
  expect(contentType('assets/a.js')).toBe('text/javascript; charset=utf-8');
  expect(contentType('assets/a.svg')).toBe('image/svg+xml');
  expect(contentType('assets/a')).toBe('application/octet-stream');
});
