import { rewardFields } from './reward-fields';

describe('the mark of a turn that waits for its outcome', () => {
  it.each([
    { why: 'nothing said', pending: false },
    { why: 'an empty header, a null field', header: '', field: null, pending: false },
    { why: 'the header', header: 'pending', pending: true },
    { why: 'the field', field: 'pending', pending: true },
    { why: 'both', header: 'pending', field: 'pending', pending: true },
    { why: 'header values come in any case, with white space', header: ' Pending ', pending: true },
  ])('$why: $pending', ({ header, field, pending }) => {
    const checked = rewardFields({ 'x-session-outcome': header }, { session_outcome: field }, true);
    expect(checked).toEqual({ ok: true, fields: { outcomePending: pending, groundTruth: null } });
  });

  it.each([
    { why: 'another word in the header', header: 'done' },
    { why: 'another word in the field', field: 'success' },
    { why: 'an outcome is no mark', field: 1 },
    { why: 'a yes is no mark', field: true },
    { why: 'an object', field: { pending: true } },
    { why: 'one right, one wrong', header: 'pending', field: 'no' },
    { why: 'a header sent twice', header: ['pending', 'pending'] },
  ])('$why is refused', ({ header, field }) => {
    const checked = rewardFields({ 'x-session-outcome': header }, { session_outcome: field }, true);
    expect(checked).toEqual({ ok: false, message: 'session_outcome must be pending', param: 'session_outcome' });
  });

  it('is refused without a session: no outcome could ever name the turn', () => {
    expect(rewardFields({}, { session_outcome: 'pending' }, false)).toEqual({
      ok: false,
      message: 'session_outcome needs a session: give session_id or X-Session-Id',
      param: 'session_outcome',
    });
    expect(rewardFields({}, {}, false).ok).toBe(true);
  });
});

describe('the ground truth', () => {
  it.each([
    { why: 'none', given: undefined, expected: null },
    { why: 'null', given: null, expected: null },
    { why: 'an empty one is none: nothing could be compared with it', given: '', expected: null },
    { why: 'as it was given, white space and all', given: ' 1/2\n', expected: ' 1/2\n' },
    { why: 'the longest', given: 'x'.repeat(10_000), expected: 'x'.repeat(10_000) },
  ])('$why', ({ given, expected }) => {
    const checked = rewardFields({}, { ground_truth: given }, false);
    expect(checked).toEqual({ ok: true, fields: { outcomePending: false, groundTruth: expected } });
  });

  it.each([{ given: 7 }, { given: ['7'] }, { given: true }, { given: 'x'.repeat(10_001) }])(
    'is refused where it is no such text: %#',
    ({ given }) => {
      expect(rewardFields({}, { ground_truth: given }, false)).toEqual({
        ok: false,
        message: 'ground_truth must be a text of at most 10000 characters',
        param: 'ground_truth',
      });
    },
  );

  it('is not read from a header', () => {
    expect(rewardFields({ 'x-ground-truth': '7', ground_truth: '7' }, {}, false)).toMatchObject({
      fields: { groundTruth: null },
    });
  });
});
