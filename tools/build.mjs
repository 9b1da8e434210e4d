import { checkNode, ensureBuilt } from './setup.mjs';

checkNode();
await ensureBuilt();
