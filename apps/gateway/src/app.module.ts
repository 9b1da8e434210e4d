import { Module } from '@nestjs/common';
import { AnswerRecorder } from './answer-recorder';
import { ApiKeyGuard } from './api-key.guard';
import { Chat } from './chat';
import { ChatRoute } from './chat-route';
import { Cors } from './cors';
import { Conversations } from './conversations';
import { DocsController } from './docs.controller';
import { EngineAttempts } from './engine-attempts';
import { EngineClient } from './engine-client';
import { EngineModels } from './engine-models';
import { EngineWeights } from './engine-weights';
import { EnginePool } from './engine-pool';
import { ErrorReplies } from './error-replies';
import { FeedbackBook } from './feedback-book';
import { FeedbackController } from './feedback.controller';
import { GatewayMetrics } from './gateway-metrics';
import { IdRecovery } from './id-recovery';
import { KeyLimits } from './key-limits';
import { KeyRing } from './key-ring';
import { KvAccess } from './kv-access';
import { MessageErrors } from './message-errors';
import { MessagesController } from './messages.controller';
import { ModelsController } from './models.controller';
import { OutcomeBook } from './outcome-book';
import { PastResponses } from './past-responses';
import { PassThrough } from './pass-through';
import { PassThroughController } from './pass-through.controller';
import { PolicyRouter } from './policy-router';
import { PolicyWatch } from './policy-watch';
import { RecentTurns } from './recent-turns';
import { Redaction } from './redaction';
import { ResponsesController } from './responses.controller';
import { SessionIdentity } from './session-identity';
import { SessionsController } from './sessions.controller';
import { StatusController } from './status.controller';
import { TokenCounter } from './token-counter';
import { TurnBook } from './turn-book';
import { TurnJournal } from './turn-journal';
import { TurnOperations } from './turn-operations';
import { TurnSweeper } from './turn-sweeper';
import { UnservedRoutes } from './unserved-routes';

@Module({
  controllers: [
    MessagesController,
    ModelsController,
    ResponsesController,
    StatusController,
    PassThroughController,
    FeedbackController,
    SessionsController,
    DocsController,
  ],
  providers: [
    AnswerRecorder,
    ApiKeyGuard,
    Chat,
    ChatRoute,
    Conversations,
    Cors,
    EngineAttempts,
    EngineClient,
    EngineModels,
    EnginePool,
    ErrorReplies,
    FeedbackBook,
    GatewayMetrics,
    IdRecovery,
    KeyLimits,
    KeyRing,
    KvAccess,
    MessageErrors,
    OutcomeBook,
    PastResponses,
    PassThrough,
    PolicyRouter,
    PolicyWatch,
    EngineWeights,
    RecentTurns,
    Redaction,
    SessionIdentity,
    TokenCounter,
    TurnBook,
    TurnJournal,
    TurnOperations,
    TurnSweeper,
    UnservedRoutes,
  ],
})
export class AppModule {}
