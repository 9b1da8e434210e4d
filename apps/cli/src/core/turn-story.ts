import type { ShownTurn, TextMessage } from '@hindcast/contracts';
import { counted, textTable, type Painter } from '@hindcast/platform/terminal';
import { ago } from './times';
import { safeText } from './safe-text';
import { signed } from './turn-row';
import { tokensOf, type ShownToken } from './turn-tokens';

interface Frame {
  readonly now: number;
  readonly painter: Painter;
}

/** Everything that is known of a turn, for a person to read. */
export function storyOf(shown: ShownTurn, frame: Frame): string[] {
  const { detail } = shown;
  const { painter } = frame;
  const part = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', painter.bold(title), ...lines];
  return [
    ...factsOf(shown, frame),
    ...part('Conversation', messagesOf(detail.conversation)),
    ...part('Answer', answerOf(shown, painter)),
    ...part('What came next', messagesOf(detail.nextState)),
    ...part('Votes', votesOf(shown)),
    ...part('Hint', detail.decision?.hint ? [safeText(detail.decision.hint)] : []),
    ...part('Decision', decisionOf(shown)),
    ...part('Feedback', feedbackOf(shown)),
    ...part('Training', trainingOf(shown)),
  ];
}

function factsOf({ detail: { turn, detail } }: ShownTurn, { now, painter }: Frame): string[] {
  const counts = `${turn.promptTokens ?? '?'} prompt, ${turn.completionTokens ?? '?'} sampled`;
  const rows = [
    ['turn', turn.turnId],
    ['response', turn.responseId ?? '-'],
    ['session', `${turn.sessionId ?? '-'}, tenant ${turn.tenant}`],
    ['when', `${new Date(turn.createdAt).toISOString()}, ${ago(turn.createdAt, now)}`],
    ['answered by', `version ${turn.policyVersion ?? '?'}, model ${turn.model ?? '?'}, tokens: ${counts}`],
    ['state', painter.bold(turn.state)],
    ['reason', `${turn.reason ?? '-'}${detail === null ? '' : `: ${safeText(detail)}`}`],
  ];
  return textTable(['', ''], rows).split('\n').slice(1);
}

const messagesOf = (messages: readonly TextMessage[] | null): string[] =>
  (messages ?? []).flatMap(({ role, text, toolName }) => [
    `${toolName === null ? role : `${role} ${toolName}`}:`,
    indented(text),
  ]);

/** The answer token by token, each shaded by its advantage; as plain text where there are no tokens, no texts or no colours. */
function answerOf(shown: ShownTurn, painter: Painter): string[] {
  const { answer } = shown.detail;
  const tokens = tokensOf(shown);
  if (!painter.isOn || tokens === null || tokens.every(({ text }) => text === null))
    return answer === null ? [] : [indented(answer)];
  const largest = Math.max(...tokens.map(({ advantage }) => Math.abs(advantage ?? 0)));
  if (largest === 0) return answer === null ? [] : [indented(answer)];
  const scale = `${painter.shade(' lowered ', -1)} ${painter.shade(' raised ', 1)} up to ±${largest.toFixed(2)}`;
  return [`  ${tokens.map((token) => painted(token, largest, painter)).join('')}`, `  ${scale}`];
}

function painted({ id, text, advantage }: ShownToken, largest: number, painter: Painter): string {
  // A line's end has no background of its own.
  const shownText = safeText(text ?? `⟨${id}⟩`);
  if (advantage === null) return shownText.replaceAll('\n', '\n  ');
  return shownText
    .split('\n')
    .map((piece) => painter.shade(piece, advantage / largest))
    .join('\n  ');
}

function votesOf({ detail: { votes } }: ShownTurn): string[] {
  return votes.flatMap((vote) => {
    const said = vote.score === null ? `abstained (${vote.abstained ?? 'unreadable'})` : signed(vote.score);
    const cost = vote.cost === null ? '' : `, cost ${vote.cost}`;
    const head = `${vote.kind} ${vote.ordinal + 1}: ${said}, ${Math.round(vote.latencyMs)} ms${cost}, prompt ${vote.promptVersion ?? '?'}`;
    return vote.raw === '' ? [head] : [head, indented(vote.raw)];
  });
}

function decisionOf({ detail: { decision } }: ShownTurn): string[] {
  if (decision === null) return [];
  const source = decision.rewardSource === null ? '' : ` by ${decision.rewardSource}`;
  return [
    `${decision.case}, reward ${signed(decision.reward)}${source}, eval score ${signed(decision.evalScore)}, method ${decision.method ?? '?'}`,
    ...(decision.reason === null ? [] : [`because of ${decision.reason}`]),
    `judge ${decision.judgeModel ?? 'none'}, teacher ${decision.teacherModel ?? 'none'}, newest version then ${decision.currentVersion ?? '?'}`,
    ...decision.verdicts.map(({ verifier, score, detail }) => `${verifier}: ${signed(score)}, ${safeText(detail)}`),
    ...(decision.guards.length > 0 ? [`guards: ${decision.guards.join(', ')}`] : []),
  ];
}

function feedbackOf({ detail: { feedback } }: ShownTurn): string[] {
  if (feedback === null) return [];
  return [
    `reward ${signed(feedback.reward)} at ${new Date(feedback.at).toISOString()}`,
    ...(feedback.comment === null ? [] : ['comment:', indented(feedback.comment)]),
    ...(feedback.correction === null ? [] : ['correction:', indented(feedback.correction)]),
  ];
}

function trainingOf(shown: ShownTurn): string[] {
  const { trained } = shown.detail;
  const tokens = tokensOf(shown);
  const advantages = (tokens ?? []).map(({ advantage }) => advantage).filter((value) => value !== null);
  const mean = advantages.reduce((sum, value) => sum + value, 0) / advantages.length;
  const spread =
    advantages.length === 0 ? [] : [`advantages of ${counted(advantages.length, 'token')}, mean ${mean.toFixed(4)}`];
  if (trained === null) return shown.expected === null ? [] : ['not yet; with the weights of now:', ...spread];
  const clipped = (tokens ?? []).filter(({ isClipped }) => isClipped).length;
  return [`trained in version ${trained.version}`, ...spread, `${counted(clipped, 'token')} beyond the clip`];
}

const indented = (text: string): string => `  ${safeText(text).replaceAll('\n', '\n  ')}`;
