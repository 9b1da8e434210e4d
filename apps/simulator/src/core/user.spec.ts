import { complaints, neutralReplies, random, thanks, vagueComplaints } from '@hindcast/seed-world';
import { feedbackKinds, openness, react, type Answer } from './user';

const plain: Answer = { text: 'So there are 7 apples.', tokens: 8, ended: true };
const formatted: Answer = { text: '**So** there are 7 apples.', tokens: 10, ended: true };

describe('react', () => {
  it.each(feedbackKinds)('%s: replies come as often as the setting says', (feedback) => {
    const draw = random(5);
    const n = 4000;
    const failed = Array.from({ length: n }, () => react('student', feedback, formatted, draw));
    const met = Array.from({ length: n }, () => react('student', feedback, plain, draw));
    const share = (list: readonly { reply: string }[], replies: readonly string[]): number =>
      list.filter(({ reply }) => replies.includes(reply)).length / n;
    expect(share(failed, complaints.plain)).toBeCloseTo(openness[feedback].explicitComplaint, 1);
    expect(share(failed, vagueComplaints)).toBeCloseTo(openness[feedback].vagueComplaint, 1);
    expect(share(met, thanks)).toBeCloseTo(openness[feedback].thanks, 1);
  });
  it('goes on after a complaint only', () => {
    const draw = random(1);
    for (let i = 0; i < 200; i++) {
      const { reply, goesOn, ruleMet } = react('student', 'mixed', formatted, draw);
      expect(ruleMet).toBe(false);
      expect(goesOn).toBe(!(neutralReplies as readonly string[]).includes(reply));
    }
    expect(react('student', 'mixed', plain, draw)).toMatchObject({ ruleMet: true, goesOn: false });
  });
  it('an answer that was cut never meets a wish', () => {
    expect(react('student', 'explicit', { ...plain, ended: false }, random(1)).ruleMet).toBe(false);
  });
});
