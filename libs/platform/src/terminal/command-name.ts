/**
 * What a person typed to get here, for a program's own help: `hindcast`, where that started it (it says so as the process's zeroth
 * argument, which no program that this one starts inherits), else the npm script's words.
 */
export const commandName = (byHindcast: string, byNpm: string): string =>
  process.argv0 === 'hindcast' ? byHindcast : byNpm;
