import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const LOG = join(__dirname, '../dist/log.js');

/** The events that a process wrote until it ended. */
function eventsOf(script: string): string[] {
  const source = `const { Log } = require(${JSON.stringify(LOG)}); const log = new Log('app', 'info'); ${script}`;
  const { stdout } = spawnSync(process.execPath, ['-e', source], { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { event: string }).event);
}

describe('lines of the log', () => {
  it.each([
    { script: "log.info('a'); log.info('b')", events: ['a', 'b'], why: 'a process that ends by itself' },
    { script: "log.info('a'); process.exit(3)", events: ['a'], why: 'an exit in the same turn' },
    { script: "log.info('a'); throw new Error()", events: ['a'], why: 'an error that nobody catches' },
    {
      script: "log.info('a'); log.error('b'); process.kill(process.pid, 'SIGKILL')",
      events: ['a', 'b'],
      why: 'an error before a kill, with what came before it',
    },
    {
      script: "log.info('a'); setImmediate(() => { process.kill(process.pid, 'SIGKILL') })",
      events: ['a'],
      why: 'a kill in the next turn',
    },
    {
      script: "for (let i = 0; i < 100; i++) log.info('a', { text: 'ü'.repeat(100) })",
      events: Array<string>(100).fill('a'),
      why: 'more than a pipe takes in one piece',
    },
    {
      script: "log.info('a'); log.warn('b'); log.info('c'); new Log('app', 'info').info('d')",
      events: ['a', 'b', 'c', 'd'],
      why: 'levels and logs in turn',
    },
  ])('are there after $why', ({ script, events }) => {
    expect(eventsOf(script)).toEqual(events);
  });

  it('never leave in a piece of more than 4,096 bytes, or but for one line', () => {
    const source = `
      const write = fs.writeSync;
      fs.writeSync = (fd, text, ...others) => {
        const { length } = Buffer.from(text);
        if (fd === 1) write(2, length > 4096 && text.trim().includes('\\n') ? 'too long ' : 'ok ');
        return write(fd, text, ...others);
      };
      const { Log } = require(${JSON.stringify(LOG)});
      const log = new Log('app', 'info');
      for (let i = 0; i < 100; i++) log.info('a', { text: 'ü'.repeat(i * 30) });`;
    const { stderr } = spawnSync(process.execPath, ['-e', source], { encoding: 'utf8' });
    expect(new Set(stderr.trim().split(' '))).toEqual(new Set(['ok']));
  });
});
