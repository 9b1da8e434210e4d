import { firstDifference } from './align-log-probs';

/**
 * Texts whose ids tell vocabularies apart: scripts, code, white space, digits, emoji, bytes that few tokenizers merge alike, and the marks
 * that chat templates use. Two models of one family give the same ids for all of them; two families differ in the first line.
 */
export const vocabularyProbes: Readonly<Record<string, string>> = {
  english: 'The quick brown fox isn’t "antidisestablishmentarian"; it\'ll re-tokenize, e.g. naïvely—or not…',
  european: 'Größe, façade, señor, Łódź, naïve Ærøskøbing, ÅÄÖ, ¿Qué? « où » ĳ ﬁ ﬂ İstanbul',
  cyrillicGreekSemitic: 'Привет, мир! Δελτίο Ωμέγα. שלום עולם مرحبا بالعالم',
  indicThai: 'नमस्ते दुनिया বাংলা தமிழ் ภาษาไทยไม่มีช่องว่าง',
  cjk: '你好，世界！漢字かな交じり文、カタカナ。 안녕하세요 세계',
  code: 'def f(x: int) -> int:\n\treturn x**2  # ok\n\nconst a = {"k": [1, null, true]};\nSELECT * FROM t WHERE id >= 10;</div>',
  whitespace: ' a  b   c\td\t\te\n\n\nf \n g\r\nh\u00a0i\u3000j    ',
  digits: '0 1 12 123 1234 12345 123456 3.14159 1e-10 1,000,000 0x1F ٣٤ ½ ² 2026-11-30',
  emoji: '😀👍🏽👩‍👩‍👧🇩🇪🏳️‍🌈 ☃️ ∑∫√ ➜ ▁ Ġ \u0001\u007f\u200b\ufeff',
  marks:
    '<s></s><unk><pad><|bos|><|im_start|>user<|im_end|><|endoftext|><|begin_of_text|><|eot_id|><|user|><|assistant|><think></think><tool_call></tool_call>[INST][/INST]',
};

/** First probe that two engines give other ids for, in words; null when all are equal. */
export function vocabularyDifference(
  policy: ReadonlyMap<string, readonly number[]>,
  teacher: ReadonlyMap<string, readonly number[]>,
): string | null {
  for (const [name, ids] of policy) {
    const others = teacher.get(name) ?? [];
    const at = firstDifference(ids, others);
    if (at >= 0)
      return `the text "${name}" has ${ids.length} ids for the policy and ${others.length} for the teacher; first difference at ${at}: ${ids[at] ?? 'none'} and ${others[at] ?? 'none'}`;
  }
  return null;
}
