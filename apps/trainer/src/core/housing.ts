import type { AdamState, NamedArrays } from './adam';
import { workInPlace } from './adam-kernel';
import { LARGEST_MEMORY, paddedBytes, wasmMemory, type WasmMemory } from './wasm-loops';

/** Arrays of a size that parameters need at once: those that a step starts from, those it has come to, and their gradients. */
const ARRAYS_OF_PARAMETERS = 3;

export type HousedState = AdamState & Required<Pick<AdamState, 'spares'>>;

/**
 * The state with its moments in one memory that the optimizer works on in place, and with `spares`: arrays in the same memory, one for
 * each parameter, for gradients to be written to. A gradient's array becomes that of the new parameters; whoever has done with parameters
 * gives their arrays back, and no step takes new memory.
 *
 * A state that is housed already is given back. So is, without spares, one that is too large for a memory of 32-bit addresses: all the
 * same is computed then, with copies and new arrays.
 */
export function housed(state: AdamState, parameters: NamedArrays): HousedState {
  if (isHoused(state)) return state;
  const sizes = [...parameters].map(([name, { length }]) => [name, length] as const);
  const bytes = sizes.reduce((sum, [, length]) => sum + paddedBytes(length), 0);
  const memory = memoryOf((2 + ARRAYS_OF_PARAMETERS) * bytes);
  if (!memory) return apart(state);
  workInPlace(memory);
  let free = 0;
  const arrays = (): Map<string, Float32Array> =>
    new Map(
      sizes.map(([name, length]) => {
        const array = new Float32Array(memory.buffer, free, length);
        free += paddedBytes(length);
        return [name, array];
      }),
    );
  const copied = (from: NamedArrays): NamedArrays => {
    const copies = arrays();
    for (const [name, copy] of copies) copy.set(from.get(name)!);
    return copies;
  };
  const [first, second] = [copied(state.first), copied(state.second)];
  return { step: state.step, first, second, spares: Array.from({ length: ARRAYS_OF_PARAMETERS }, arrays) };
}

/** The state with its arrays where they are, and no spare ones. */
export function apart(state: AdamState): HousedState {
  return isHoused(state) ? state : { ...state, spares: [] };
}

const isHoused = (state: AdamState): state is HousedState => state.spares !== undefined;

/** The spares without those that are in use now. */
export function without(spares: readonly NamedArrays[], used: NamedArrays): readonly NamedArrays[] {
  const isUsed = (arrays: NamedArrays): boolean => [...arrays].some(([name, array]) => used.get(name) === array);
  return spares.filter((arrays) => !isUsed(arrays));
}

/** Parameters that nobody reads any more among the spares, to be taken first. Arrays from elsewhere are left to themselves. */
export function givenBack({ spares, first }: HousedState, parameters: NamedArrays): readonly NamedArrays[] {
  const isOurs = [...parameters].every(([name, { buffer }]) => buffer === first.get(name)?.buffer);
  return isOurs ? [...spares, parameters] : spares;
}

function memoryOf(bytes: number): WasmMemory | null {
  if (bytes > LARGEST_MEMORY) return null;
  try {
    return wasmMemory(bytes);
  } catch (error) {
    // The process may have no more address space.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
