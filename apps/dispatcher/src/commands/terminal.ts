import * as terminal from '@hindcast/platform/terminal';

export { Declined, ask } from '@hindcast/platform/terminal';

/** The terminal of a command that has to leave a server or a connection in order when it is stopped. */
export interface Terminal extends terminal.Terminal {
  /** Rejects with {@link Interrupted} when the person or the system wants the command to end. */
  readonly interrupted: Promise<never>;
}

/** The command was asked to end before it was done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  constructor(readonly signal: 'SIGINT' | 'SIGTERM') {
    super('Interrupted.');
  }
}

export function processTerminal(env: Terminal['env']): Terminal {
  const interrupted = new Promise<never>((_, reject) => {
    // Once: whoever asks twice does not want to wait for an orderly end.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Interrupted(signal)));
  });
  interrupted.catch(() => undefined);
  return { ...terminal.processTerminal(env), interrupted };
}
