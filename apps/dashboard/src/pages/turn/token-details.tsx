import { decimal, signed } from '../../core/number';
import { visibleText } from '../../core/token-chunks';
import { readToken, type TokenSignals } from '../../core/token-signals';

const DIGITS = 4;

/** All numbers of the token that the pointer or the focus is on. */
export function TokenDetails({ signals, index }: { readonly signals: TokenSignals; readonly index: number | null }) {
  if (index === null || index >= signals.length)
    return (
      <div id="token-details" className="token-details">
        <p className="muted">Point at a token, or go to one with Tab and the arrow keys.</p>
      </div>
    );
  const token = readToken(signals, index);
  const gap = token.teacher === null ? null : token.teacher - token.rollout;
  const rows: readonly (readonly [string, string, string])[] = [
    ['Advantage', signed(token.advantage, DIGITS), 'A = w_rl · r + w_opd · (teacher − old)'],
    ['Rollout', decimal(token.rollout, DIGITS), 'log-prob when it was sampled, nats'],
    ['Teacher', decimal(token.teacher, DIGITS), 'log-prob with the hint, nats'],
    ['Teacher − rollout', signed(gap, DIGITS), 'nats'],
    ['Old', decimal(token.old, DIGITS), 'log-prob that the ratio is taken against, nats'],
    ['New', decimal(token.new, DIGITS), 'log-prob after the step, nats'],
    ['Ratio', decimal(token.ratio, DIGITS), 'exp(new − old)'],
    ['Clipped', token.isClipped === null ? '–' : token.isClipped ? 'yes' : 'no', 'the ratio left the clip range'],
  ];
  return (
    <div id="token-details" className="token-details">
      <p className="token-details-name">
        <span className="mono">{visibleText(token.text)}</span>
        <span className="muted">
          token {index}, id {token.id}
        </span>
      </p>
      <dl>
        {rows.map(([name, value, meaning]) => (
          <div key={name} title={meaning}>
            <dt>{name}</dt>
            <dd className="number">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
