// A Dockerfile as stages and instructions: as much of the language as ours uses.

/**
 * @typedef {{ name: string, words: string, line: number }} Instruction `words`: all after the name, joined over lines
 * @typedef {{ name: string | null, base: string, instructions: Instruction[] }} Stage
 */

/** @returns {{ args: Map<string, string>, stages: Stage[] }} `args`: those before the first stage, with their defaults */
export function readDockerfile(text) {
  const args = new Map();
  const stages = [];
  for (const { name, words, line } of instructionsOf(text)) {
    if (name === 'FROM') {
      const [, base, stage] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(words) ?? [null, words, undefined];
      stages.push({ base: expand(base, args), name: stage ?? null, instructions: [] });
    } else if (stages.length > 0) stages.at(-1).instructions.push({ name, words, line });
    else if (name === 'ARG') args.set(...assignment(words));
  }
  return { args, stages };
}

function* instructionsOf(text) {
  let pending = '';
  let start = 0;
  for (const [i, line] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    if (pending === '') start = i + 1;
    pending += line.replace(/\\\s*$/, ' ');
    if (/\\\s*$/.test(line)) continue;
    const [, name, words] = /^\s*(\w+)\s+(.*?)\s*$/.exec(pending) ?? [null, pending.trim(), ''];
    yield { name: name.toUpperCase(), words, line: start };
    pending = '';
  }
}

const assignment = (words) => {
  const at = words.indexOf('=');
  return at < 0 ? [words, ''] : [words.slice(0, at), words.slice(at + 1)];
};
const expand = (text, args) => text.replace(/\$\{(\w+)\}/g, (whole, name) => args.get(name) ?? whole);

/** The stage and all that it is made from, oldest first: what an image inherits. */
export function inherited(stages, stage) {
  const base = stages.find(({ name }) => name === stage.base);
  return [...(base ? inherited(stages, base) : []), ...stage.instructions];
}

/** `ENV A=1 B=2` → entries. */
export const pairs = (words) =>
  [...words.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, name, value]) => [name, value.replace(/^"|"$/g, '')]);

/** Options (`--from=x`) and the rest of a COPY or HEALTHCHECK. */
export function optionsOf(words) {
  const all = words.split(/\s+/);
  const options = Object.fromEntries(
    all.filter((word) => word.startsWith('--')).map((word) => assignment(word.slice(2))),
  );
  return { options, rest: all.filter((word) => !word.startsWith('--')) };
}
