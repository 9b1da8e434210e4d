export const isRepetitive = (_answer: string): boolean => false;
