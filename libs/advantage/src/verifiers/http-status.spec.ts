import { httpStatus } from './http-status';
import type { NextStateMessage, VerifiableTurn } from './verdict';

const message = (text: string, role = 'tool'): NextStateMessage => ({ role, text, toolName: 'fetch' });
const turn = (...nextState: NextStateMessage[]): VerifiableTurn => ({
  answer: 'HTTP/1.1 200 OK',
  nextState,
  groundTruth: null,
});
const scoreOf = (...texts: string[]): number | null => httpStatus(turn(...texts.map((text) => message(text)))).score;

describe('http-status', () => {
  it.each([
    { text: 'HTTP/1.1 200 OK\r\ncontent-type: text/html', score: 1, why: 'a status line' },
    { text: 'HTTP/1.1 404 Not Found', score: -1, why: 'a status line' },
    { text: '< HTTP/2 204 \n<', score: 1, why: 'as curl -v prints it' },
    { text: 'HTTP/1.1 301 Moved\n\nHTTP/1.1 200 OK', score: 1, why: 'a redirect that was followed' },
    { text: 'HTTP/1.1 100 Continue\n\nHTTP/1.1 201 Created', score: 1, why: '1xx is on the way' },
    { text: 'HTTP/1.1 200 OK\n\nHTTP/1.1 503 Unavailable', score: -1, why: 'one failure decides' },
    { text: 'Request failed with status code 500', score: -1, why: 'a sentence' },
    { text: 'HTTP Error 403: Forbidden', score: -1, why: 'as urllib says it' },
    { text: '404 Client Error: Not Found for url: http://h/x', score: -1, why: 'as requests says it' },
    { text: 'curl: (22) The requested URL returned error: 502', score: -1, why: 'as curl -f says it' },
    { text: 'HTTP status: 302', score: 1, why: 'a label' },
    { text: 'HTTP 429', score: -1, why: 'the short form' },
    { text: 'status: 404\nbody: …', score: -1, why: 'a line of its own' },
    { text: '{"status": 404}', score: -1, why: 'JSON' },
    { text: '{"status": "404", "message": "Not Found"}', score: -1, why: 'a number written as text' },
    { text: '{"statusCode": 201, "body": "status code 500 is documented here"}', score: 1, why: 'JSON says it itself' },
    { text: '{"a": {"b": {"http_status": 500}}}', score: -1, why: 'deep, but it can be nothing else' },
    { text: '{"error": {"status": 400, "code": "x"}}', score: -1, why: 'the status of an error' },
    { text: '[{"status": 200}, {"status": 500}]', score: -1, why: 'one of several' },
    { text: '{"status": 404, "body": "cut in the mid', score: -1, why: 'JSON that was cut' },
    { text: '\u001b[1mHTTP/1.1\u001b[0m \u001b[31m500\u001b[0m', score: -1, why: 'in colour' },
    { text: '{"orders": [{"status": 500}]}', score: null, why: 'an order’s status is not HTTP’s' },
    { text: '{"status": "ok"}', score: null, why: 'a word is no status' },
    { text: '{"status": 42}', score: null, why: 'nor is 42' },
    { text: '{"status": 200.5}', score: null, why: 'nor half a one' },
    { text: 'status code 999', score: null, why: 'nor 999' },
    { text: 'status code 2000', score: null, why: 'nor a longer number' },
    { text: 'the room has 404 seats and error 500 is famous', score: null, why: 'numbers in prose' },
    { text: 'HTTP/1.1 100 Continue', score: null, why: 'nothing has come yet' },
    { text: '', score: null, why: 'nothing at all' },
  ])('$text → $score: $why', ({ text, score }) => {
    expect(scoreOf(text)).toBe(score);
  });

  it('one failed request of several decides', () => {
    expect(scoreOf('HTTP 200', 'HTTP 201')).toBe(1);
    expect(scoreOf('HTTP 200', 'HTTP 404', 'HTTP 200')).toBe(-1);
  });

  it('a user cannot vote, nor can the answer', () => {
    expect(httpStatus(turn(message('HTTP 200', 'user'))).detail).toBe('no tool result');
  });
});
