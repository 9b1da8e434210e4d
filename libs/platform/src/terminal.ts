// `@hindcast/platform/terminal`: what commands for a person share. It loads neither Nest nor NATS.
export { counted } from './terminal/counted';
export { painter, type Colour, type Painter } from './terminal/painter';
export { Declined, ask, exitOfCommand, processTerminal, type Terminal } from './terminal/process-terminal';
export { Progress, withProgress } from './terminal/progress';
export { shortened, textTable } from './terminal/text-table';
export { commandName } from './terminal/command-name';
export { wholeNumber } from './terminal/whole-number';
