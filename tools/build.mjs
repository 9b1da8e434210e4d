import { checkNode, ensureBuilt } from './setup.mjs';

checkNode();
ensureBuilt();
