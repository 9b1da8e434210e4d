import { Controller, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, Tenant } from './api-key.guard';
import { Conversations } from './conversations';
import { SessionIdentity } from './session-identity';

@Controller('v1/sessions')
@UseGuards(ApiKeyGuard)
export class SessionsController {
  constructor(
    private readonly conversations: Conversations,
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
}
