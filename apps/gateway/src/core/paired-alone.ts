import type { Capture } from '@hindcast/contracts';
import { pairTexts } from './judge-texts';
import { pairedBody, type Ending, type OpenTurn } from './open-turn';

/** The ending of a turn after which nothing more is said, as feedback or an outcome gives it: paired with an empty next state. */
export function pairedAlone(turn: OpenTurn, { header }: Capture, by: string, at: number): Ending {
  const conversation = [...header.messages, { ...header.answer, role: 'assistant' }];
  return { kind: 'paired', at, by, body: pairedBody(turn, pairTexts(conversation, header.messages.length)) };
}
