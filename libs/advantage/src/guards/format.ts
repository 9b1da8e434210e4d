export const hasBrokenFormat = (_answer: string): boolean => false;
