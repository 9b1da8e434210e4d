/** A process of the stack that ended without being asked to. */
export interface EndedPart {
  readonly name: string;
  readonly ending: { readonly code: number | null; readonly signal: string | null };
  readonly logFile: string;
  /** The command that starts it alone, where there is one. */
  readonly again: string | null;
}

/** What a person is told of it, and how to mend it. */
export function endedPart({ name, ending, logFile, again }: EndedPart): string {
  const alone = again === null ? '' : `, or it alone: ${again}`;
  return `${name} ended (${ending.signal ?? `code ${ending.code}`}); its log is ${logFile}. Stop everything with Ctrl-C and start it again${alone}`;
}
