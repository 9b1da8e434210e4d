// A service that does not get beyond its imports.
import '../first';
import { setInterval } from 'node:timers';

setInterval(() => undefined, 1_000);
process.stdout.write('importing\n');
