import type { Persona, Question, Random } from '@hindcast/seed-world';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ChatClient } from './client';
import { react, type Feedback } from './core/user';

/** Answers a user asks for before giving up. */
const MAX_ANSWERS = 3;

export interface SessionResult {
  /** The first answer met the wish. */
  readonly firstMet: boolean;
  /** Main turns of the session: answers that Hindcast captures. */
  readonly answers: number;
}

/**
 * One conversation: a question, up to three answers, a reaction to each. The closing reaction is a side request: it needs no answer
 * worth learning from, but it is the next state of the answer before it.
 */
export async function runSession(
  client: ChatClient,
  user: {
    readonly persona: Persona;
    readonly feedback: Feedback;
    readonly question: Question;
    readonly draw: Random;
    readonly sessionId: string;
    readonly seed: number;
  },
  patienceMs?: number,
): Promise<SessionResult> {
  const { sessionId } = user;
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: user.question.text }];
  let firstMet = false;
  for (let answers = 1; ; answers++) {
    const answer = await client.ask(
      {
        model: 'hindcast',
        messages,
        seed: user.seed * 10 + answers,
        turnType: 'main',
        sessionId,
      },
      patienceMs,
    );
    const reaction = react(user.persona, user.feedback, answer, user.draw);
    if (answers === 1) firstMet = reaction.ruleMet;
    messages.push({ role: 'assistant', content: answer.text }, { role: 'user', content: reaction.reply });
    if (!reaction.goesOn || answers === MAX_ANSWERS) {
      await client.ask(
        {
          model: 'hindcast',
          messages,
          seed: user.seed * 10,
          maxTokens: 1,
          turnType: 'side',
          sessionId,
          sessionDone: true,
        },
        patienceMs,
      );
      return { firstMet, answers };
    }
  }
}
