import { BadRequestException, Body, Controller, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { openAiError } from '@hindcast/platform';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { Conversations } from './conversations';
import { checkOutcome } from './core/outcome-request';
import { OutcomeBook } from './outcome-book';
import { SessionIdentity } from './session-identity';

export interface OutcomeReply {
  /** As the client gave it. */
  readonly session_id: string;
  readonly reward: number;
  readonly status: 'recorded';
}

@Controller('v1/sessions')
@UseGuards(ApiKeyGuard)
export class SessionsController {
  constructor(
    private readonly conversations: Conversations,
    private readonly outcomes: OutcomeBook,
    private readonly sessions: SessionIdentity,
  ) {}

  /** Open turns of the session will get no next state: they are closed. */
  @Post(':id/end')
  @HttpCode(200)
  async end(@Tenant() tenant: string, @Param('id') id: string): Promise<{ ended: true }> {
    const sessionId = this.sessions.sessionId(tenant, id.trim() || null);
    if (sessionId !== null) await this.conversations.endSession(sessionId, 'the client ended the session');
    return { ended: true };
  }

  /** Open turns of the session will get no next state, but a reward: they are paired. */
  @Post(':id/outcome')
  @HttpCode(200)
  async outcome(@Tenant() tenant: string, @Param('id') id: string, @Body() body: unknown): Promise<OutcomeReply> {
    const sessionId = this.sessions.sessionId(tenant, id.trim() || null);
    if (sessionId === null) throw refusal('a session id is needed', 'id');
    const checked = checkOutcome(body);
    if (!checked.ok) throw refusal(checked.message, checked.param);
    await this.outcomes.give(tenant, sessionId, checked.request);
    return { session_id: id, reward: checked.request.reward, status: 'recorded' };
  }
}

const refusal = (message: string, param: string | null): BadRequestException =>
  new BadRequestException(openAiError(400, 'invalid-request', message, param));
