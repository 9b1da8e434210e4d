import {
  complaints,
  neutralReplies,
  ruleMet,
  thanks,
  vagueComplaints,
  wishOf,
  type Persona,
  type Random,
} from '@hindcast/seed-world';

export const feedbackKinds = ['explicit', 'mixed', 'implicit'] as const;
export type Feedback = (typeof feedbackKinds)[number];

/** How openly a user reacts; probabilities. What is left of a failure, and of a success, is a neutral reply that ends the session. */
export interface Openness {
  /** A failed wish is named in words. */
  readonly explicitComplaint: number;
  /** A failed wish is only complained about. */
  readonly vagueComplaint: number;
  /** A met wish is thanked for. */
  readonly thanks: number;
}

export const openness: Readonly<Record<Feedback, Openness>> = {
  explicit: { explicitComplaint: 1, vagueComplaint: 0, thanks: 1 },
  mixed: { explicitComplaint: 0.6, vagueComplaint: 0.25, thanks: 0.7 },
  implicit: { explicitComplaint: 0.15, vagueComplaint: 0.6, thanks: 0.5 },
};

/** An answer as the user got it. */
export interface Answer {
  readonly text: string;
  /** Tokens without the end mark. */
  readonly tokens: number;
  /** The model ended it by itself. */
  readonly ended: boolean;
}

export interface Reaction {
  readonly ruleMet: boolean;
  readonly reply: string;
  /** The user goes on and expects another answer. */
  readonly goesOn: boolean;
}

/** What a user does with an answer: whether the wish is met is a rule, what is said about it is drawn. */
export function react(persona: Persona, feedback: Feedback, answer: Answer, draw: Random): Reaction {
  const met = ruleMet(persona, answer.text, answer.tokens, answer.ended);
  const open = openness[feedback];
  const x = draw.next();
  const ending = (replies: readonly string[]): Reaction => ({ ruleMet: met, reply: draw.pick(replies), goesOn: false });
  const complaint = (replies: readonly string[]): Reaction => ({
    ruleMet: met,
    reply: draw.pick(replies),
    goesOn: true,
  });
  if (met) return ending(x < open.thanks ? thanks : neutralReplies);
  if (x < open.explicitComplaint) return complaint(complaints[wishOf[persona]]);
  if (x < open.explicitComplaint + open.vagueComplaint) return complaint(vagueComplaints);
  return ending(neutralReplies);
}
