const FOREGROUND = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90 } as const;
export type Colour = keyof typeof FOREGROUND;

/** Red, green and blue of a background without strength, and of the deepest ones. */
const NONE = 245;
const RAISED = [143, 184, 240] as const;
const LOWERED = [242, 183, 124] as const;

/** Puts codes for colours around a text, or leaves it as it is. */
export interface Painter {
  readonly isOn: boolean;
  paint(text: string, colour: Colour): string;
  bold(text: string): string;
  /** A background between white (0) and a full orange (−1) or blue (+1), as in the dashboard, with letters that can be read on it. */
  shade(text: string, strength: number): string;
}

/** Colours only on a terminal, and never where NO_COLOR holds anything (no-color.org) or the terminal is a dumb one. */
export function painter(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Painter {
  const isOn = isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const around = (text: string, code: string): string =>
    isOn && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;
  return {
    isOn,
    paint: (text, colour) => around(text, String(FOREGROUND[colour])),
    bold: (text) => around(text, '1'),
    shade: (text, strength) => around(text, `38;5;16;48;2;${shadeOf(strength)}`),
  };
}

function shadeOf(strength: number): string {
  const size = Math.min(1, Math.abs(strength));
  return (strength < 0 ? LOWERED : RAISED).map((full) => Math.round(NONE + (full - NONE) * size)).join(';');
}
