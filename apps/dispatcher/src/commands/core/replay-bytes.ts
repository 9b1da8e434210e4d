import type { Replayed } from './replayed-turn';

const CASES = ['drop', 'rl', 'opd', 'opdRl'] as const;
const encoder = new TextEncoder();

/**
 * Canonical binary form of a replayed turn, for a digest over all of them in the order of their decisions. Little-endian:
 *
 *   turn id · case u8 · reward f64 (NaN for none, all bits fixed) · eval score i8 · reward source · reason · R u32 · advantages f64[R]
 *
 * A text is its length in bytes (u32; 0xffffffff for none) and its UTF-8.
 */
export function replayBytes(turnId: string, { decision, advantages }: Replayed): Uint8Array {
  const texts = [turnId, decision.rewardSource, decision.reason].map((text) =>
    text === null ? null : encoder.encode(text),
  );
  const size = 1 + 8 + 1 + 4 + 8 * advantages.length;
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + 4 + (text?.length ?? 0), size));
  const view = new DataView(bytes.buffer);
  let at = 0;
  const putText = (text: Uint8Array | null): void => {
    view.setUint32(at, text?.length ?? 0xffffffff, true);
    if (text) bytes.set(text, at + 4);
    at += 4 + (text?.length ?? 0);
  };
  putText(texts[0]!);
  view.setUint8(at, CASES.indexOf(decision.case));
  if (decision.reward === null) view.setBigUint64(at + 1, 0x7ff8000000000000n, true);
  else view.setFloat64(at + 1, decision.reward, true);
  view.setInt8(at + 9, decision.evalScore);
  at += 10;
  putText(texts[1]!);
  putText(texts[2]!);
  view.setUint32(at, advantages.length, true);
  advantages.forEach((advantage, t) => view.setFloat64(at + 4 + 8 * t, advantage, true));
  return bytes;
}
