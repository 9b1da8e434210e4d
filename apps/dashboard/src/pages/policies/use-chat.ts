import { useCallback, useEffect, useRef, useState } from 'react';
import { failureOf, keyHeaders } from '../../api/ask';
import { NO_ANSWER, withChunk, type ChatAnswer } from '../../core/chat-answer';
import { readEvents } from '../../core/server-sent-events';

export interface ChatState extends ChatAnswer {
  readonly isRunning: boolean;
  /** Model that was asked; `null` before the first question. */
  readonly asked: string | null;
  /** The request failed before an answer began, or broke off: status, code and message as they came. */
  readonly failure: string | null;
  /** From the request to the last piece; `null` until then. */
  readonly tookMs: number | null;
}

export interface Chat {
  readonly state: ChatState;
  readonly ask: (model: string, prompt: string) => Promise<void>;
  readonly stop: () => void;
}

const IDLE: ChatState = { ...NO_ANSWER, isRunning: false, asked: null, failure: null, tookMs: null };

/** One streamed answer of a model by its name, as a side request: nothing of it is captured or trained. */
export function useChat(): Chat {
  const [state, setState] = useState<ChatState>(IDLE);
  const running = useRef<AbortController | null>(null);
  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const ask = useCallback(async (model: string, prompt: string): Promise<void> => {
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    const began = performance.now();
    let answer = NO_ANSWER;
    setState({ ...IDLE, isRunning: true, asked: model });
    const end = (failure: string | null): void => {
      const tookMs = performance.now() - began;
      setState({ ...answer, isRunning: false, asked: model, failure, tookMs });
    };
    try {
      for await (const data of streamOf(model, prompt, signal)) {
        answer = withChunk(answer, data);
        setState({ ...answer, isRunning: true, asked: model, failure: null, tookMs: null });
      }
      end(answer.isComplete || answer.error !== null ? null : 'The stream broke off before its end.');
    } catch (error) {
      if (running.current?.signal !== signal) return;
      end(signal.aborted ? 'Stopped.' : error instanceof Error ? error.message : String(error));
    }
  }, []);
  return { state, ask, stop };
}

async function* streamOf(model: string, prompt: string, signal: AbortSignal): AsyncGenerator<string> {
  const response = await fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { ...keyHeaders(), 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: prompt }],
      stream: true,
      stream_options: { include_usage: true },
      turn_type: 'side',
    }),
    signal,
  });
  if (!response.ok || response.body === null) {
    const { status, code, message } = failureOf(response, await response.json().catch(() => null));
    throw new Error(`${status}${code === null ? '' : ` ${code}`}: ${message}`);
  }
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    const reading = readEvents(rest + (done ? '\n\n' : value));
    for (const { data } of reading.events) yield data;
    if (done) return;
    rest = reading.rest;
  }
}
