/** One spelling for what is written in several ways, each by a pattern that reads the text once. */
const SPELLINGS: readonly [RegExp, string][] = [
  // Currencies and degrees are how a number is shown.
  [/\\\$|[€£¥₹]/g, ''],
  [/\^ ?(?:\\circ|\{ ?\\circ ?\})|\\(?:degree|deg)(?![a-zA-Z])|°/g, ''],
  // Formatting: mathematics delimiters, spaces, sizes, emphasis.
  [/\\(?:left|right|displaystyle|limits|bf|rm)(?![a-zA-Z])/g, ''],
  [/\\!/g, ''],
  [/\\[()[\],;: ]|\$|~|\\(?:quad|qquad|thinspace)(?![a-zA-Z])/g, ' '],
  [/\\[dtc]frac(?![a-zA-Z])/g, '\\frac'],
  [
    /\\(?:textbf|textit|textrm|textsf|mathrm|mathsf|mathit|mathbf|boldsymbol|mbox|hbox|operatorname)(?![a-zA-Z])/g,
    '\\text',
  ],
  // Signs that have two names.
  [/[−–]/g, '-'],
  [/\\(?:times|cdot|ast)(?![a-zA-Z])|[×·⋅]/g, '*'],
  [/\\div(?![a-zA-Z])|[÷⁄]/g, '/'],
  [/\\(?:le|leq|leqslant)(?![a-zA-Z])/g, '≤'],
  [/\\(?:ge|geq|geqslant)(?![a-zA-Z])/g, '≥'],
  [/\\lbrace(?![a-zA-Z])/g, '\\{'],
  [/\\rbrace(?![a-zA-Z])/g, '\\}'],
  [/\\pi(?![a-zA-Z])/g, 'π'],
  [/\\infty(?![a-zA-Z])/g, '∞'],
  [/\\%/g, '%'],
  // \frac12, \sqrt2
  [/\\frac ?(\d)(\d)/g, '\\frac{$1}{$2}'],
  [/\\sqrt ?(\d)/g, '\\sqrt{$1}'],
  [/\s+/g, ' '],
];

/** An answer in one spelling: formatting is gone, and signs with two names have one. */
export function canonical(answer: string): string {
  let text = answer;
  for (const [pattern, spelling] of SPELLINGS) text = text.replace(pattern, spelling);
  return text.trim().replace(/\.$/, '').trim();
}

/** What is compared of an answer that is no number and no list: without spaces, case, `\text` and braces around it. */
export const plainText = (canonicalAnswer: string): string =>
  canonicalAnswer
    .replace(/\\text ?\{([^{}]*)\}/g, '$1')
    .replace(/ /g, '')
    .toLowerCase();
