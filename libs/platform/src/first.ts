import { endOnSignals } from './early-signals';

// `import '@hindcast/platform/first'` is the first line of every service: what it imports after that takes most of a second.
endOnSignals();
