import { InvalidArgumentError } from 'commander';

/** Reads an argument that is a whole number from `low` on. */
export function wholeNumber(low: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < low)
      throw new InvalidArgumentError(`a whole number from ${low} on`);
    return value;
  };
}
