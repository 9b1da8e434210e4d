export { MAX_DEPTH, checkDepth, depthIsMeasured } from './body-depth';
export { startService, type RunningService, type ServiceOptions } from './bootstrap';
export { release } from './build-info';
export { brokerOf, brokerProblem, connectionOptions, type Broker } from './broker';
export { shownServers } from './core/server-list';
export { Buckets, type BucketOptions } from './buckets';
export { Bus, type QueryOf, type ReplyOf } from './bus';
export {
  CommonConfig,
  baseUrl,
  booleanFlag,
  commaList,
  commonConfig,
  parseConfig,
  resolvedConfigForLog,
  secret,
  secretNames,
} from './config';
export { crashPoint, type CrashPoint } from './crash-point';
export { httpErrorOf, openAiError, type OpenAiError } from './http-error';
export { GatheredBytes } from './gathered-bytes';
export { Health, type Readiness } from './health';
export { identitySecret, knownIdentitySecret, sessionIdOf, userIdOf, type IdentitySource } from './identities';
export { longJson } from './json-body';
export { JetStreamStrategy, type HandlerExtras } from './jetstream.strategy';
export { Latest } from './core/latest';
export { Log, withLogContext, type LogContext } from './log';
export { MessageContext } from './message-context';
export { Metrics } from './metrics';
export { Nats } from './nats';
export { CONFIG, PlatformModule } from './platform.module';
export { announcesJson, bodyMemory, rawBodyOf, readBody } from './request-body';
export { RequestMemory } from './request-memory';
export { reusedMemory, type Lease } from './reused-memory';
export { runApp } from './run-app';
export type { SurveyAnswer, SurveyQuestion } from './survey';
export { streamOf } from './topology';
export { storedTrace, traceContextOf } from './core/trace-context';
export {
  NO_SPAN,
  activeSpan,
  endWith,
  inSpan,
  isTracing,
  setHttpStatus,
  startHttpCall,
  startSpan,
  startTrace,
  within,
  type Span,
  type SpanAttributes,
  type SpanParent,
} from './tracing';
export { requestSpan } from './tracing-http';
export { WorkerSlots } from './worker-slots';
