/** One line of a proof. @param proof `{name, ok, detail, seconds}` */
export const lineOf = ({ name, ok, detail, seconds }) =>
  `${ok ? 'ok' : 'not ok'} — ${name}: ${detail} (${Math.round(seconds)} s)`;
