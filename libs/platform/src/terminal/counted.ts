/** `1 step`, `2 steps`. @param many where it is not the word with an s */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
