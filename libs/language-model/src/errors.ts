/** A model file or directory is not what its format says; the message names the file and what is wrong. Trying again cannot help. */
export class ModelFormatError extends Error {
  override readonly name = 'ModelFormatError';
  constructor(
    readonly path: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${problem}`, options);
  }
}
