import { membersOf, toolResults, wholeNumber, type Member, type ToolResult } from './tool-results';
import { verdictsOf, type Verifier } from './verdict';

const { passed, failed, abstained } = verdictsOf('http-status');

/** Members that can be nothing else, at any depth. */
const CERTAIN_KEYS = /^(?:status[_-]?code|http[_-]?(?:status|code|status[_-]?code))$/i;
/** Objects in which a `status` is that of the response. */
const RESPONSES = ['response', 'error', 'result', 'meta'];

const NUMBER = String.raw`(\d{3})(?![\w]|\.\d)`;
const PATTERNS = [
  // HTTP/1.1 404 Not Found · HTTP/2 200
  String.raw`\bHTTP/\d(?:\.\d)? ${NUMBER}`,
  // HTTP 404 · HTTP Error 404 · HTTP status: 503
  String.raw`\bHTTP (?:error |status |code |response ){0,3}[:=]? ?${NUMBER}`,
  String.raw`\bHTTP (?:error|status|code|response)[:=] ?${NUMBER}`,
  // status code 500 · "statusCode": 404 · status_code=200
  String.raw`\bstatus[ _-]?code["']?[ \t]{0,4}[:=]?[ \t]{0,4}["']?${NUMBER}`,
  // status: 404, alone at the beginning of a line or as a member of JSON that was cut
  String.raw`(?:^|[{,])[ \t]{0,8}["']?status["']?[ \t]{0,4}[:=][ \t]{0,4}["']?${NUMBER}`,
  // 404 Client Error · The requested URL returned error: 404
  String.raw`\b(\d{3}) (?:client|server) error\b`,
  String.raw`\breturned error: ${NUMBER}`,
].map((source) => new RegExp(source, 'gim'));

/**
 * HTTP statuses in the results of the tools that the answer called: all 2xx or 3xx → +1, any 4xx or 5xx → −1.
 *
 * A result that is JSON is asked for members that can only be an HTTP status, at any depth, and for a `status` of its outermost object or
 * of its `response`, `error`, `result` or `meta`; only a result without them is read as text. Every result counts, and one failure
 * decides. 1xx is no result, and a number that is no status is not read. Abstains where no tool result names a status.
 */
export const httpStatus: Verifier = (turn) => {
  const results = toolResults(turn);
  if (results.length === 0) return abstained('no tool result');
  const statuses = results.flatMap(statusesOf).filter((status) => status >= 200 && status <= 599);
  if (statuses.length === 0) return abstained(`no HTTP status in ${results.length} tool results`);
  const bad = statuses.find((status) => status >= 400);
  return bad === undefined ? passed(`HTTP status ${statuses.at(-1)}`) : failed(`HTTP status ${bad}`);
};

function statusesOf(result: ToolResult): number[] {
  const named = result.json === undefined ? [] : statusesIn(result.json);
  return named.length > 0 ? named : result.texts.flatMap(statusesInText);
}

function statusesIn(json: object): number[] {
  const responses = new Set<unknown>(RESPONSES.map((name) => (json as Record<string, unknown>)[name]));
  const statuses: number[] = [];
  for (const member of membersOf(json)) {
    const status = wholeNumber(member.value);
    if (status !== null && (CERTAIN_KEYS.test(member.key) || isResponseStatus(member, responses)))
      statuses.push(status);
  }
  return statuses;
}

const isResponseStatus = ({ key, owner, depth }: Member, responses: ReadonlySet<unknown>): boolean =>
  key === 'status' && (depth === 0 || responses.has(owner));

const statusesInText = (text: string): number[] =>
  PATTERNS.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, status]) => Number(status)));
