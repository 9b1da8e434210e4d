import { readEvents } from './server-sent-events';

describe('the events of a stream', () => {
  it('are cut at blank lines, and what is unfinished waits', () => {
    const { events, rest } = readEvents('event: turns\ndata: {"revision":"7"}\n\nevent: steps\nda');
    expect(events).toEqual([{ event: 'turns', data: '{"revision":"7"}' }]);
    expect(rest).toBe('event: steps\nda');
  });

  it('pass over comments, ids and unknown fields', () => {
    expect(readEvents(': still here\n\nid: 3\nretry: 5\n\n').events).toEqual([]);
  });

  it('join several lines of data, and know other line ends', () => {
    expect(readEvents('data: a\r\ndata:b\r\n\r\n').events).toEqual([{ event: 'message', data: 'a\nb' }]);
  });
});
