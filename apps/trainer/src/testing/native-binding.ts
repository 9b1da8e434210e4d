import { join } from 'node:path';
import { findBinding } from '../backends/native-backend';

/** Where `npm run tfjs-node:build` leaves it. */
export const BINDING_DIR = join(__dirname, '../../../../.cache/tfjs-node-binding');

/** Why tests cannot use TensorFlow's own library; `null` where they can. */
export function missingBinding(): string | null {
  try {
    findBinding('tfjs-node', BINDING_DIR);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
