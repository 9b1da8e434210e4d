import { resolve } from 'node:path';

/** The repository, from `apps/cli/src` as from `apps/cli/dist`. */
export const root = resolve(__dirname, '../../..');
