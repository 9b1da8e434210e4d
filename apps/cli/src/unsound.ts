/** A check found a fault: the command did its work, and its answer is no. */
export class Unsound extends Error {
  override readonly name = 'Unsound';
}
