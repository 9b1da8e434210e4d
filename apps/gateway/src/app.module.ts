import { Module } from '@nestjs/common';
import { AdminController } from './admin/admin.controller';
import { AdminGuard } from './admin/admin.guard';
import { DashboardController } from './admin/dashboard.controller';
import { LedgerController } from './admin/ledger.controller';
import { LiveFeed } from './admin/live-feed';
import { OverviewBook } from './admin/overview-book';
import { RollbackBook } from './admin/rollback-book';
import { ServicesSurvey } from './admin/services-survey';
import { TokenTexts } from './admin/token-texts';
import { TurnOwners } from './admin/turn-owners';
import { TurnsController } from './admin/turns.controller';
import { AnnouncedTurns } from './announced-turns';
import { AnswerRecorder } from './answer-recorder';
import { ApiKeyGuard } from './api-key.guard';
import { Callers } from './callers';
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
import { SessionMemory } from './session-memory';
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
    AdminController,
    TurnsController,
    LedgerController,
    DashboardController,
  ],
  providers: [
    AdminGuard,
    AnnouncedTurns,
    AnswerRecorder,
    ApiKeyGuard,
    Callers,
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
    LiveFeed,
    MessageErrors,
    OutcomeBook,
    OverviewBook,
    PastResponses,
    PassThrough,
    PolicyRouter,
    PolicyWatch,
    EngineWeights,
    RecentTurns,
    Redaction,
    RollbackBook,
    ServicesSurvey,
    SessionIdentity,
    SessionMemory,
    TokenCounter,
    TokenTexts,
    TurnBook,
    TurnJournal,
    TurnOperations,
    TurnOwners,
    TurnSweeper,
    UnservedRoutes,
  ],
})
export class AppModule {}
