import { exitCode } from './exit-code';
import type { NextStateMessage, VerifiableTurn } from './verdict';

const message = (text: string, role = 'tool'): NextStateMessage => ({ role, text, toolName: 'shell' });
const turn = (...nextState: NextStateMessage[]): VerifiableTurn => ({
  answer: 'exit code: 0',
  nextState,
  groundTruth: null,
});
const scoreOf = (...texts: string[]): number | null => exitCode(turn(...texts.map((text) => message(text)))).score;
const RED = '\u001b[31m';

describe('exit-code', () => {
  it.each([
    { text: 'Exit code: 0\nWall time: 0.2 s\nOutput:\nok', score: 1, why: 'a label' },
    { text: 'Exit code: 1\nno such file', score: -1, why: 'a label' },
    { text: 'exit_code=2', score: -1, why: 'as a variable' },
    { text: 'exitCode: 0', score: 1, why: 'in camels' },
    { text: 'return code: 127', score: -1, why: 'another name' },
    { text: 'Exit code 1\nbash: foo: command not found', score: -1, why: 'a line of its own' },
    { text: 'Error: Exit code 2', score: -1, why: 'after the word error' },
    { text: 'main.go:3: oops\nexit status 1', score: -1, why: 'as go run says it' },
    { text: 'Process exited with code 0.', score: 1, why: 'a sentence' },
    { text: '[The command completed with exit code 0.]', score: 1, why: 'a sentence in brackets' },
    { text: "Command '['make']' returned non-zero exit status 2.", score: -1, why: 'as Python says it' },
    { text: '<returncode>0</returncode>\n<output>\nfine\n</output>', score: 1, why: 'a tag' },
    { text: '<exit_code>1</exit_code>', score: -1, why: 'a tag' },
    { text: `${RED}Exit code: ${RED}1\u001b[0m`, score: -1, why: 'in colour' },
    { text: 'exit code: -9', score: -1, why: 'a signal’s number' },
    { text: 'exit code: 3221225786', score: -1, why: 'a Windows number' },
    {
      text: '{"exit_code": 0, "output": "it printed exit code: 1 as it should"}',
      score: 1,
      why: 'JSON says it itself',
    },
    { text: '{"output": "", "metadata": {"exit_code": 1}}', score: -1, why: 'deeper in JSON' },
    { text: '[{"exitCode": 0}, {"exitCode": 3}]', score: -1, why: 'one of several' },
    { text: '{"returncode": "0"}', score: 1, why: 'a number written as text' },
    { text: '{"output": "Exit code: 1"}', score: -1, why: 'text inside of JSON' },
    { text: '{"stdout": "", "stderr": "", "status": 101}', score: -1, why: 'the status of a process' },
    { text: '{"status": 0}', score: 1, why: 'no HTTP status is 0' },
    { text: '{"status": null, "signal": "SIGKILL"}', score: -1, why: 'ended by a signal' },
    { text: '{"exit_code": 1, "output": "cut in the mid', score: -1, why: 'JSON that was cut' },
    { text: 'Exit code: 0\nexit status 2', score: -1, why: 'one failure decides' },
    { text: '{"status": 200}', score: null, why: 'that is HTTP’s' },
    { text: '{"exit_code": null}', score: null, why: 'it still runs' },
    { text: '{"exit_code": 0.5}', score: null, why: 'that is no code' },
    { text: 'exit code: 0x1f', score: null, why: 'nor is that' },
    { text: 'exit code: 1.5', score: null, why: 'nor that' },
    { text: 'see the section on exit code 2 of the manual', score: null, why: 'prose about codes' },
    { text: 'all done', score: null, why: 'nothing is said' },
    { text: '', score: null, why: 'nothing at all' },
  ])('$text → $score: $why', ({ text, score }) => {
    expect(scoreOf(text)).toBe(score);
  });

  it('one failed tool of several decides', () => {
    expect(scoreOf('Exit code: 0', 'Exit code: 0')).toBe(1);
    expect(scoreOf('Exit code: 0', 'Exit code: 4', 'Exit code: 0')).toBe(-1);
    expect(scoreOf('Exit code: 0', 'a web page')).toBe(1);
  });

  it.each(['user', 'assistant', 'system'])('a message of a %s cannot vote', (role) => {
    expect(exitCode(turn(message('Exit code: 0', role)))).toEqual({
      verifier: 'exit-code',
      score: null,
      detail: 'no tool result',
    });
    expect(exitCode(turn(message('Exit code: 1', role), message('Exit code: 0', 'function'))).score).toBe(1);
  });
});
