// The one stream of events that all pages share (GET /admin/v1/events), over fetch, because EventSource sends no key.
// Pages: `useStreamed('overview')` for its newest data, `useAnswer(path, { on: ['turns'] })` to ask again when something changed,
// `useConnection()` for whether it lives.
import { useEffect, useSyncExternalStore } from 'react';
import type { Overview } from '@hindcast/contracts';
import { backOff } from '../core/back-off';
import { readEvents } from '../core/server-sent-events';
import { keyHeaders } from './ask';

export interface EventData {
  readonly overview: Overview;
  readonly turns: { readonly revision: string };
  readonly steps: { readonly version: number };
}
export type EventName = keyof EventData;
export type Connection = 'off' | 'connecting' | 'live' | 'waiting';

const latest: { [Name in EventName]?: EventData[Name] } = {};
const listeners = new Set<() => void>();
const handlers = new Map<string, Set<() => void>>();
let connection: Connection = 'off';
let running: AbortController | null = null;

function notify(): void {
  for (const listener of listeners) listener();
}

function setConnection(next: Connection): void {
  if (connection === next) return;
  connection = next;
  notify();
}

/** Connects, and again whenever it breaks off, until `stopEvents`. */
export function startEvents(): void {
  running?.abort();
  running = new AbortController();
  void run(running.signal);
}

export function stopEvents(): void {
  running?.abort();
  running = null;
  for (const name of Object.keys(latest)) delete latest[name as EventName];
  setConnection('off');
}

async function run(signal: AbortSignal): Promise<void> {
  let failures = 0;
  let wasLive = false;
  while (!signal.aborted) {
    setConnection('connecting');
    try {
      await listen(signal, () => {
        setConnection('live');
        failures = 0;
        // What happened in between was missed: everybody asks again.
        if (wasLive) for (const name of handlers.keys()) tell(name);
        wasLive = true;
      });
    } catch {
      // Whatever it was, the answer is to try again; pages say what their own requests met.
    }
    if (signal.aborted) return;
    failures += 1;
    setConnection('waiting');
    await pause(backOff(failures, Math.random()), signal);
  }
}

async function listen(signal: AbortSignal, onOpen: () => void): Promise<void> {
  const response = await fetch('/admin/v1/events', { headers: keyHeaders(), signal, cache: 'no-store' });
  if (!response.ok || response.body === null) throw new Error(`events: ${response.status}`);
  onOpen();
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done || signal.aborted) return;
    const reading = readEvents(rest + value);
    rest = reading.rest;
    for (const { event, data } of reading.events) receive(event, data);
  }
}

function receive(name: string, data: string): void {
  try {
    latest[name as EventName] = JSON.parse(data);
  } catch {
    return;
  }
  notify();
  tell(name);
}

function tell(name: string): void {
  for (const handler of handlers.get(name) ?? []) handler();
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection);

/** Newest data of an event; `undefined` before the first one came. */
export function useStreamed<Name extends EventName>(name: Name): EventData[Name] | undefined {
  return useSyncExternalStore(subscribe, () => latest[name]);
}

/** Calls `handler` with every event of these names, and after a connection that had been lost. */
export function useOnEvent(names: readonly EventName[], handler: () => void): void {
  const key = names.join(' ');
  useEffect(() => {
    const wanted = key === '' ? [] : key.split(' ');
    for (const name of wanted) handlers.set(name, (handlers.get(name) ?? new Set()).add(handler));
    return () => {
      for (const name of wanted) handlers.get(name)?.delete(handler);
    };
  }, [key, handler]);
}
