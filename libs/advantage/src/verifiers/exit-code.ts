import { membersOf, toolResults, wholeNumber, type Member, type ToolResult } from './tool-results';
import { verdictsOf, type Verifier } from './verdict';

const { passed, failed, abstained } = verdictsOf('exit-code');

const JSON_KEYS = /^(?:exit[_-]?(?:code|status)|return[_-]?code)$/i;

// As shells, test harnesses and agents' tools print them. Every repetition is bounded.
const NUMBER = String.raw`(-?\d{1,10})(?![\w]|\.\d)`;
const PATTERNS = [
  // exit code: 1 · exit_code=0 · "returncode": 2
  String.raw`\b(?:exit[ _-]?(?:code|status)|return[ _-]?code)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?${NUMBER}`,
  // Exit code 1 · exit status 2, alone at the beginning of a line
  String.raw`^[ \t]{0,8}\[?(?:error:[ ]?)?exit (?:code|status) ${NUMBER}`,
  // exited with code 1 · completed with exit code 0 · returned non-zero exit status 1
  String.raw`\b(?:exited|finished|completed|failed|terminated|ended|returned)(?: with)?(?: an?)?(?: non-zero)? (?:exit |return )?(?:code|status):? ${NUMBER}`,
  // <returncode>1</returncode>
  String.raw`<(?:exit[_-]?(?:code|status)|return[_-]?code)>[ \t\n]{0,4}${NUMBER}`,
].map((source) => new RegExp(source, 'gim'));

/**
 * Exit codes of the tools that the answer called: all 0 → +1, any other → −1.
 *
 * A result that is JSON is asked for members called exit code, exit status or return code in any spelling, and for `status` where that
 * cannot be HTTP's; only a result without them is read as text. Every result counts, and one failure decides. Abstains where no tool
 * result names an exit code.
 */
export const exitCode: Verifier = (turn) => {
  const results = toolResults(turn);
  if (results.length === 0) return abstained('no tool result');
  const codes = results.flatMap(codesOf);
  if (codes.length === 0) return abstained(`no exit code in ${results.length} tool results`);
  const bad = codes.find((code) => code !== 0);
  return bad === undefined ? passed(`exit code 0, ${codes.length} times`) : failed(`exit code ${bad}`);
};

type ExitCode = number | 'by a signal';

function codesOf(result: ToolResult): ExitCode[] {
  const named = result.json === undefined ? [] : codesIn(result.json);
  return named.length > 0 ? named : result.texts.flatMap(codesInText);
}

function codesIn(json: object): ExitCode[] {
  const codes: ExitCode[] = [];
  for (const member of membersOf(json)) {
    if (!JSON_KEYS.test(member.key) && !isProcessStatus(member)) continue;
    const code = wholeNumber(member.value);
    if (code !== null) codes.push(code);
    // What a signal ended has no code.
    else if (member.value === null && typeof member.owner['signal'] === 'string') codes.push('by a signal');
  }
  return codes;
}

const isProcess = (owner: Member['owner']): boolean => 'stdout' in owner || 'stderr' in owner || 'signal' in owner;

// No HTTP status is below 100.
const isProcessStatus = ({ key, value, owner, depth }: Member): boolean =>
  key === 'status' && (isProcess(owner) || (depth === 0 && (wholeNumber(value) ?? 100) < 100));

const codesInText = (text: string): number[] =>
  PATTERNS.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, code]) => Number(code)));
