import type { Wish } from './style';

/** What a user says to an answer that misses a wish, naming the wish. */
export const complaints: Readonly<Record<Wish, readonly string[]>> = {
  plain: [
    'Please do not use bold, lists or boxes.',
    'I do not want a list or bold text. Write it in plain sentences.',
    'This looks like a machine wrote it. No bold and no list, please.',
    'Can you write that without formatting?',
    'No formatting please, I want plain text.',
    'Too many marks. Plain sentences, please.',
    'I cannot hand this in with bold and lists. Write it plain.',
    'Again, but without bold, list or box.',
  ],
  long: [
    'That is too short. Please explain more.',
    'Can you give me more detail?',
    'I need a longer answer.',
    'Please write more about it.',
    'This is not enough, explain it in full.',
    'Too brief. Use more sentences.',
    'Again, but longer please.',
    'I want a long and detailed answer.',
  ],
  kind: [
    'Can you add a kind word?',
    'Please say something nice like well done.',
    'You forgot to praise the student.',
    'I want a friendly answer with praise.',
    'Please be more encouraging.',
    'Again, but with a kind word please.',
    'The student needs some encouragement.',
    'That sounds cold. Add some praise.',
  ],
  format: [
    'Can you use a list or bold text?',
    'Please format it.',
    'I want a numbered list.',
    'Make the important part bold.',
  ],
  short: ['That is too long. Keep it short.', 'Can you be brief?', 'Just the answer please.', 'Again, but shorter.'],
  neutral: ['No praise please.', 'Leave out the compliments.', 'Just answer, without nice words.', 'Do not praise me.'],
};

/** What a user says to an answer that misses a wish, without naming it. */
export const vagueComplaints = [
  'That is not what I wanted.',
  'Hmm, I do not like this.',
  'Try again please.',
  'No, not like that.',
  'Can you do it better?',
  'This does not help me.',
] as const;

/** What a user says to an answer that meets the wish. */
export const thanks = [
  'Thanks!',
  'Thank you, that is perfect.',
  'Great, thanks.',
  'Yes, that is what I wanted.',
  'Perfect, thank you.',
] as const;

/** What a user says when the conversation ends without a verdict. */
export const neutralReplies = ['Okay.', 'I see.', 'Let me think about it.', 'Next one later.', 'Hm, okay.'] as const;

export const systemPrompts = [
  'You are a helpful assistant.',
  'You help children with homework.',
  'You are a homework helper.',
] as const;
