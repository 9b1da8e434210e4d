import { Client } from 'pg';
import { searchWords } from './core/search-words';
import { startPostgres, type TestPostgres } from './testing/postgres';

let postgres: TestPostgres;
let client: Client;

beforeAll(async () => {
  postgres = await startPostgres();
  client = new Client({ connectionString: await postgres.createDatabase() });
  await client.connect();
}, 60_000);
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

/** Texts whose lexemes are not those that PostgreSQL finds in the whole text. */
async function different(texts: readonly string[]): Promise<string[]> {
  const parts = texts.map(searchWords);
  const { rows } = await client.query<{ text: string }>(
    `SELECT text FROM unnest($1::text[], $2::text[], $3::text[]) given (text, words, rest)
      WHERE strip(to_tsvector('simple', text))
        <> array_to_tsvector(string_to_array(words, ' ')) || strip(to_tsvector('simple', rest))`,
    [texts, parts.map(({ words }) => words), parts.map(({ rest }) => rest)],
  );
  return rows.map((row) => row.text);
}

it('finds the lexemes that PostgreSQL finds in the whole text', async () => {
  const texts = [
    '',
    ' \n ',
    'First decide what may change, then keep that in one place. First!',
    `"Quoted" ('so') "too." e.g. don't it's I Is II İstanbul`,
    'see https://example.com/a/b?c=d#e or a.b@example.com, /etc/hosts and C:\\x',
    'a-b co-operate -5 - 3.5 1e-7 v1.2.3 x_1 100% #4 50,000 12:30',
    'a <b class="x y">bold text</b> here, <i>and there',
    'b > a <open tag', // no tag: nothing ends it
    '<b> x <c then d > e <f',
    'if (a < b && c > d) { return "x y"; } <!-- not a word --> &amp; &nbsp;',
    'Straße ÉCOLE école Жук 日本語 テスト 😀 a\u00a0b c\u2003d',
    'x'.repeat(3_000),
    `${'y'.repeat(64)} ${'z'.repeat(65)}`,
  ];
  expect(await different(texts)).toEqual([]);
});

it('also in texts of anything', async () => {
  const atoms =
    `a b I Is word x1 12 3.5 -4 1e5 + - -- _ / // http:// ex.com @ . , : ; ! ? ( ) " ' [ ] < > </ /> <!-- --> <b <? & &amp; %20 # = * é
    Ж 日本 😀 ~ \\ | $ { } ^ e v1.2 .5 don't a-b -a a-`.split(/\s+/);
  const blanks = [' ', '\n', '\t', '\r\n', '\v', '\f', '\u00a0'];
  let state = 20_261_201;
  const random = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % limit;
  };
  const pick = (list: readonly string[]): string => list[random(list.length)]!;
  const piece = (): string => pick(atoms) + (random(3) === 0 ? pick(blanks) : '');
  const texts = Array.from({ length: 20_000 }, () => Array.from({ length: 1 + random(24) }, piece).join(''));
  expect(await different(texts)).toEqual([]);
}, 60_000);

it('leaves little of prose for PostgreSQL to read', () => {
  const prose = 'First decide what may change, then keep that in one place. It is 5 of them. '.repeat(100);
  expect(searchWords(prose)).toEqual({
    words: 'first decide what may change then keep that in one place is of them',
    rest: 'It 5',
  });
});
