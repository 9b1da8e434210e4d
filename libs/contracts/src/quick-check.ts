import type { CaptureHeader, Sampling } from './capture';
import type { Envelope } from './primitives';
import type { CapturedTurn } from './turn';

// What a gateway makes of values that it has checked is nearly always right. These say so in a fraction of the time that zod takes. They
// only ever say yes to what the schema takes as it is; `false` says nothing, and the schema decides.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const HASH = /^[0-9a-f]{16,64}$/;
const DIALECTS: ReadonlySet<unknown> = new Set<CaptureHeader['dialect']>(['vllm', 'sglang', 'openai']);
const MAX_TENANT = 128;

const [HEADER_FIELDS, SAMPLING_FIELDS, CAPTURED_FIELDS, ENVELOPE_FIELDS] = [13, 8, 10, 5];

const hasFields = (value: object, count: number): boolean => Object.keys(value).length === count;
const isFilled = (value: unknown): boolean => typeof value === 'string' && value.length > 0;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isHash = (value: unknown): boolean => value === null || (typeof value === 'string' && HASH.test(value));
/** A plain object, as JSON makes one; of one with a member named `constructor` only zod knows, and one named `__proto__` it leaves out. */
const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && value.constructor === Object && !Object.hasOwn(value, '__proto__');

/** `true`: `Sampling` takes it as it is. `false`: ask the schema. */
export function isSampling(value: Sampling): boolean {
  const { temperature, topP, topK, minP, presencePenalty, frequencyPenalty, repetitionPenalty, seed } = value;
  return (
    Number.isFinite(temperature) &&
    temperature >= 0 &&
    Number.isFinite(topP) &&
    topP > 0 &&
    topP <= 1 &&
    (topK === null || Number.isSafeInteger(topK)) &&
    (minP === null || Number.isFinite(minP)) &&
    Number.isFinite(presencePenalty) &&
    Number.isFinite(frequencyPenalty) &&
    (repetitionPenalty === null || Number.isFinite(repetitionPenalty)) &&
    (seed === null || Number.isSafeInteger(seed)) &&
    hasFields(value, SAMPLING_FIELDS)
  );
}

/** `true`: `CaptureHeader` takes it as it is, once messages that it takes are added. `false`: ask the schema. */
export function isHeaderWithoutMessages(value: Omit<CaptureHeader, 'messages'>): boolean {
  const { turnId, tenant, tools, templateArguments, sampling } = value;
  return (
    typeof turnId === 'string' &&
    UUID.test(turnId) &&
    isFilled(tenant) &&
    tenant.length <= MAX_TENANT &&
    isHash(value.sessionId) &&
    isFilled(value.responseId) &&
    isFilled(value.model) &&
    isCount(value.policyVersion) &&
    DIALECTS.has(value.dialect) &&
    (tools === null || Array.isArray(tools)) &&
    (templateArguments === null || isRecord(templateArguments)) &&
    isRecord(value.answer) &&
    typeof sampling === 'object' &&
    sampling !== null &&
    isSampling(sampling) &&
    typeof value.finishReason === 'string' &&
    isCount(value.at) &&
    hasFields(value, HEADER_FIELDS)
  );
}

/** `true`: it is a message of `turnCaptured` about a trainable turn, as the contract takes it. `false`: ask the schema. */
export function isCapturedMessage(value: Envelope<CapturedTurn>): boolean {
  const { v, turnId, tenant, at, body } = value;
  return (
    v === 1 &&
    typeof turnId === 'string' &&
    UUID.test(turnId) &&
    isFilled(tenant) &&
    tenant.length <= MAX_TENANT &&
    isCount(at) &&
    isRecord(body) &&
    isFilled(body.responseId) &&
    isHash(body.sessionId) &&
    isCount(body.policyVersion) &&
    isFilled(body.model) &&
    (body.promptTokens === null || isCount(body.promptTokens)) &&
    (body.completionTokens === null || isCount(body.completionTokens)) &&
    typeof body.finishReason === 'string' &&
    body.untrainable === null &&
    isHash(body.userId) &&
    typeof body.outcomePending === 'boolean' &&
    hasFields(body, CAPTURED_FIELDS) &&
    hasFields(value, ENVELOPE_FIELDS)
  );
}
