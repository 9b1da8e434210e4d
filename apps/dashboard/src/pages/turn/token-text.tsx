import {
  memo,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type SyntheticEvent,
} from 'react';
import { shownText, spokenText, tokenChunks, type TokenChunk } from '../../core/token-chunks';
import type { TokenSignals } from '../../core/token-signals';
import { tokenColour } from './token-colour';
import { nextToken } from './next-token';

/** Runs that are drawn at once; the others follow while the browser is idle. */
const FIRST_CHUNKS = 8;
/** From that many tokens on, runs out of sight are not laid out. */
const LONG = 1_500;

export interface TokenTextProps {
  readonly signals: TokenSignals;
  /** The token whose numbers are shown; it alone is marked. */
  readonly shown: number | null;
  /** Which token the pointer or the focus is on. */
  readonly onShow: (index: number | null) => void;
}

/** The tokens as running text: one stop for the Tab key, arrow keys inside. */
export function TokenText({ signals, shown, onShow }: TokenTextProps) {
  const chunks = useMemo(() => tokenChunks(signals.texts, signals.length), [signals]);
  const drawn = useDrawn(chunks.length);
  const [active, setActive] = useState(0);
  const frame = useRef<HTMLDivElement>(null);

  const show = useCallback(
    (event: SyntheticEvent) => {
      const index = indexOf(event.target);
      if (index !== null) onShow(index);
    },
    [onShow],
  );
  const focused = (event: SyntheticEvent): void => {
    const index = indexOf(event.target);
    if (index === null) return;
    setActive(index);
    onShow(index);
  };
  const move = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = nextToken(event.key, active, signals.length, (t) => tokenElement(frame.current, t));
    if (to === null) return;
    event.preventDefault();
    const element = tokenElement(frame.current, to);
    element?.focus();
    element?.scrollIntoView({ block: 'nearest' });
  };

  return (
    <div
      ref={frame}
      className={`token-text${signals.length > LONG ? ' is-long' : ''}`}
      role="listbox"
      aria-label="Sampled tokens; the arrow keys go from one to the next"
      aria-orientation="horizontal"
      tabIndex={-1}
      onMouseOver={show}
      onFocus={focused}
      onKeyDown={move}
    >
      {chunks.slice(0, drawn).map((chunk) => (
        <Chunk
          key={chunk.from}
          chunk={chunk}
          signals={signals}
          active={within(chunk, active)}
          shown={within(chunk, shown)}
        />
      ))}
      {drawn < chunks.length && (
        <p className="muted" role="status">
          Drawing token {chunks[drawn]!.from} of {signals.length}…
        </p>
      )}
    </div>
  );
}

const Chunk = memo(function Chunk({
  chunk,
  signals,
  active,
  shown,
}: {
  readonly chunk: TokenChunk;
  readonly signals: TokenSignals;
  readonly active: number | null;
  readonly shown: number | null;
}) {
  const tokens = [];
  for (let t = chunk.from; t < chunk.to; t += 1) {
    const advantage = signals.advantages?.[t];
    tokens.push(
      <span
        key={t}
        className="token"
        role="option"
        tabIndex={t === active ? 0 : -1}
        aria-selected={t === active}
        aria-label={spokenText(signals.texts?.[t] ?? null, signals.ids[t]!)}
        aria-describedby={t === active ? 'token-details' : undefined}
        data-shown={t === shown || undefined}
        data-token-index={t}
        data-advantage={advantage}
        {...tokenColour(advantage, signals.limit)}
      >
        {shownText(signals.texts?.[t] ?? null, signals.ids[t]!)}
      </span>,
    );
  }
  return (
    <div className="token-chunk" role="group" aria-label={`Tokens ${chunk.from} to ${chunk.to - 1}`}>
      {tokens}
    </div>
  );
});

/** Grows to all runs, a few at a time, so that no single piece of work holds the page up. */
function useDrawn(total: number): number {
  const [drawn, setDrawn] = useState(FIRST_CHUNKS);
  useEffect(() => {
    if (drawn >= total) return;
    const frame = requestAnimationFrame(() => setDrawn((before) => before + FIRST_CHUNKS));
    return () => cancelAnimationFrame(frame);
  }, [drawn, total]);
  return Math.min(drawn, total);
}

const within = ({ from, to }: TokenChunk, t: number | null): number | null =>
  t !== null && t >= from && t < to ? t : null;

function indexOf(target: EventTarget): number | null {
  const index = (target as Element).closest('[data-token-index]')?.getAttribute('data-token-index');
  return index === null || index === undefined ? null : Number(index);
}

const tokenElement = (frame: Element | null, t: number): HTMLElement | null =>
  frame?.querySelector(`[data-token-index="${t}"]`) ?? null;
