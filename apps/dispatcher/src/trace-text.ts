import type { TraceContext } from '@hindcast/contracts';
import { activeSpan, storedTrace } from '@hindcast/platform';

/** The caller's trace as a row keeps it, so that what is done later, and by another dispatcher, still belongs to it; `null`: none. */
export function traceText(): string | null {
  const { context } = activeSpan();
  return context && JSON.stringify(context);
}

/** What a row holds; whatever cannot be read is none. */
export function readTrace(text: string | null): TraceContext | null {
  if (text === null) return null;
  try {
    return storedTrace(JSON.parse(text));
  } catch {
    return null;
  }
}
