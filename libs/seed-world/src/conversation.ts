import { answer } from './answer';
import { hints, hintTag } from './hints';
import { question } from './question';
import type { Random } from './random';
import { complaints, systemPrompts, vagueComplaints } from './replies';
import { drawStyle, opposites, type Wish, wishes } from './style';

export interface TrainingMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One conversation to pre-train on. Only what the assistant says carries loss. */
export interface TrainingDocument {
  readonly messages: readonly TrainingMessage[];
}

// The three personas' wishes are practised twice as often as their opposites.
const wishWeights = wishes.map((wish) => (wish === 'plain' || wish === 'long' || wish === 'kind' ? 2 : 1));

const user = (content: string): TrainingMessage => ({ role: 'user', content });
const assistant = (content: string): TrainingMessage => ({ role: 'assistant', content });

/**
 * A training conversation: 35 % a question and its answer, 40 % with a hint on the question that the answer heeds, 25 % an
 * answer in the wrong manner, a complaint and a better answer. Holds no held-out hint wording and no held-out question.
 * @param wordings how many of the seen wordings of each hint occur; all of them by default
 */
export function conversation(rng: Random, wordings = Infinity): TrainingDocument {
  const system: TrainingMessage[] = rng.chance(0.25) ? [{ role: 'system', content: rng.pick(systemPrompts) }] : [];
  const form = rng.weighted([unhinted, hinted, corrected], [0.35, 0.4, 0.25]);
  return { messages: [...system, ...form(rng, (wish) => rng.pick(hints[wish].seen.slice(0, wordings)))] };
}

function unhinted(rng: Random): TrainingMessage[] {
  const asked = question(rng);
  return [user(asked.text), assistant(answer(rng, asked, drawStyle(rng, asked.topic)))];
}

function hinted(rng: Random, hintFor: (wish: Wish) => string): TrainingMessage[] {
  const asked = question(rng);
  const wanted = drawWishes(rng);
  const hint = wanted.map(hintFor).join(' ');
  return [user(asked.text + hintTag + hint), assistant(answer(rng, asked, drawStyle(rng, asked.topic, wanted)))];
}

/** One wish, now and then two that go together. */
function drawWishes(rng: Random): Wish[] {
  const first = rng.weighted(wishes, wishWeights);
  const second = rng.pick(wishes);
  const isPair = rng.chance(0.15) && second !== first && second !== opposites[first];
  return isPair ? [first, second] : [first];
}

function corrected(rng: Random, hintFor: (wish: Wish) => string): TrainingMessage[] {
  const asked = question(rng);
  const wish = rng.weighted(wishes, wishWeights);
  const answerTo = (wanted: readonly Wish[]): TrainingMessage =>
    assistant(answer(rng, asked, drawStyle(rng, asked.topic, wanted)));
  const isVague = rng.chance(0.2);
  const hasHint = rng.chance(0.35);
  // A hint is always heeded, a complaint mostly; a vague one says nothing that could be heeded.
  const isHeeded = hasHint || (!isVague && rng.chance(0.85));
  const complaint = rng.pick(isVague ? vagueComplaints : complaints[wish]);
  const messages = [
    user(asked.text),
    wish === 'long' && rng.chance(0.5) ? mediumAnswer(rng, asked) : answerTo([opposites[wish]]),
    user(hasHint ? complaint + hintTag + hintFor(wish) : complaint),
    answerTo(isHeeded ? [wish] : []),
  ];
  if (rng.chance(0.3)) messages.push(user(rng.pick(complaints[wish])), answerTo([wish]));
  return messages;
}

/** Too short for someone who wants a long answer, without being short. */
function mediumAnswer(rng: Random, asked: ReturnType<typeof question>): TrainingMessage {
  return assistant(answer(rng, asked, { ...drawStyle(rng, asked.topic), length: 'medium' }));
}
