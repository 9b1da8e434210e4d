import type { PastAnswer } from '../core/responses/conversation-input';

export type Json = Record<string, unknown>;

/** Another turn's id. */
export const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
/** No earlier answers. */
export const none: ReadonlyMap<string, PastAnswer> = new Map();
export const user = (content: unknown): Json => ({ role: 'user', content });
