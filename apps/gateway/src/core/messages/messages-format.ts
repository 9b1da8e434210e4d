import type { ClientFormat } from '../client-format';
import { messageId, messageOf } from './messages-answer';
import { messagesErrorBody } from './messages-error';
import type { AnswerOptions } from './messages-request';
import { MessagesStream } from './messages-stream';

const DEFAULTS: AnswerOptions = { stopSequences: [], showsThinking: true };

/** Anthropic's Messages API. */
export const messagesFormat = (options = DEFAULTS): ClientFormat => ({
  responseId: messageId,
  error: messagesErrorBody,
  whole: ({ body }, _asked, answerId) => Buffer.from(JSON.stringify(messageOf(body, answerId, options))),
  stream: (_asked, answerId) => new MessagesStream(answerId, options),
});
