/** What is known of one engine at a moment. */
export interface EngineView {
  readonly engine: string;
  /** Its circuit lets a request through. */
  readonly isOpenForRequests: boolean;
  readonly isHealthy: boolean;
  readonly inFlight: number;
}

/** What a request wants of an engine. */
export interface EngineWish {
  /** Engines that hold the model; empty: unknown. */
  readonly holders: ReadonlySet<string>;
  /** The others could not answer at all. */
  readonly onlyHolders: boolean;
  /** Engines that this request was sent to already. */
  readonly tried: ReadonlySet<string>;
}

/**
 * Engines for a request, best first: healthy before unhealthy, then those that it was not sent to yet, then those that hold the
 * model (the others may have got it since), then the least busy. Equals keep their order. None whose circuit is open.
 */
export function engineOrder(views: readonly EngineView[], wish: EngineWish): readonly string[] {
  const rank = ({ engine, isHealthy }: EngineView): number =>
    (isHealthy ? 0 : 4) +
    (wish.tried.has(engine) ? 2 : 0) +
    (wish.holders.size > 0 && !wish.holders.has(engine) ? 1 : 0);
  return views
    .filter((view) => view.isOpenForRequests && (!wish.onlyHolders || wish.holders.has(view.engine)))
    .sort((a, b) => rank(a) - rank(b) || a.inFlight - b.inFlight)
    .map(({ engine }) => engine);
}
