import { itemId, responseId, turnOfItem, turnOfResponse } from './response-ids';

const TURN = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('ids', () => {
  it('lead back to the turn', () => {
    expect(turnOfResponse(responseId(TURN))).toBe(TURN);
    for (const kind of ['msg', 'rs', 'fc', 'ctc'] as const) expect(turnOfItem(itemId(kind, TURN, 12))).toBe(TURN);
  });
  it.each(['resp_', 'resp_XYZ', 'chatcmpl-1', `msg_${'a'.repeat(32)}`, '', null, 5, `resp_${'a'.repeat(33)}`])(
    '%j is none of ours',
    (id) => {
      expect(turnOfResponse(id)).toBeNull();
      expect(turnOfItem(id)).toBeNull();
    },
  );
});
