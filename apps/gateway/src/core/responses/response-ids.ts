/**
 * Ids of the Responses API, all made from the turn id: a response is found by its turn, and items that a client sends back are put
 * together again by the answer that they came from.
 */
const HEX = '[0-9a-f]{32}';
const RESPONSE_ID = new RegExp(`^resp_(${HEX})$`);
const ITEM_ID = new RegExp(`^(?:msg|rs|fc|ctc)_(${HEX})_\\d+$`);

/** `msg` message, `rs` reasoning, `fc` function call, `ctc` call of a custom tool. */
export type ItemKind = 'msg' | 'rs' | 'fc' | 'ctc';

const hexOf = (turnId: string): string => turnId.replaceAll('-', '');
const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
const turnOf = (pattern: RegExp, id: unknown): string | null => {
  const hex = typeof id === 'string' ? pattern.exec(id)?.[1] : undefined;
  return hex === undefined ? null : uuidOf(hex);
};

export const responseId = (turnId: string): string => `resp_${hexOf(turnId)}`;

/** @param index counts the items of this kind in the answer */
export const itemId = (kind: ItemKind, turnId: string, index: number): string => `${kind}_${hexOf(turnId)}_${index}`;

/** Id of a tool call to which the engine gave none. */
export const callId = (turnId: string, index: number): string => `call_${hexOf(turnId)}_${index}`;

/** Turn of a response id; `null` when it is none of ours. */
export const turnOfResponse = (id: unknown): string | null => turnOf(RESPONSE_ID, id);

/** Turn of an output item's id; `null` when it is none of ours. */
export const turnOfItem = (id: unknown): string | null => turnOf(ITEM_ID, id);
