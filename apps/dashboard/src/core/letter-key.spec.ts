import { appOf, folded, letterKey, letterOf, prettyMessage } from './letter-key';

describe('the key of a letter', () => {
  it('is read as it is written', () => {
    expect(letterKey({ sequence: 17, at: 1_760_000_000_000 })).toBe('17/1760000000000');
    expect(letterOf('17/1760000000000')).toEqual({ sequence: 17, at: 1_760_000_000_000 });
  });

  it.each(['', '17', '17/', '/5', 'a/5', '17/5/../x', '-1/5', '1'.repeat(20) + '/5'])('is not %j', (key) => {
    expect(letterOf(key)).toBeNull();
  });
});

it('the service of a consumer is what its name begins with', () => {
  expect(appOf('judge-svc--rl-v1-turn-paired')).toBe('judge-svc');
  expect(appOf('somebody')).toBe('somebody');
});

describe('a long message', () => {
  it('is folded at whole lines', () => {
    const text = Array.from({ length: 10 }, (_, at) => `line ${at}`).join('\n');
    expect(folded(text, 4)).toEqual({ text: 'line 0\nline 1\nline 2\nline 3', hiddenLines: 6 });
  });

  it('is whole where little would be left out', () => {
    expect(folded('a\nb\nc\nd\ne', 4)).toEqual({ text: 'a\nb\nc\nd\ne', hiddenLines: 0 });
  });
});

describe('a message', () => {
  it('is indented where it is JSON, and stays as it is where it is not', () => {
    expect(prettyMessage('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(prettyMessage('{"a":[1…')).toBe('{"a":[1…');
  });
});
