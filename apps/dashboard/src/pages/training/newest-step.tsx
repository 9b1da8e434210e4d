import type { StepRow } from '@hindcast/contracts';
import { counted, numberText, percent, whole } from '../../core/number';
import { latency } from '../../core/time';
import { Stat, Stats } from '../../parts/stat';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { StateBadge } from '../policies/state-badge';

/** The newest step in numbers; a number that it does not have is left out. */
export function NewestStep({
  step: { version, parent, at, state, reason, turns, metrics },
}: {
  readonly step: StepRow;
}) {
  const loss = metrics['loss/total'];
  const reward = metrics['reward_mean'];
  const clip = metrics['clip_fraction'];
  const speed = metrics['tokens_per_second'];
  const seconds = metrics['step_seconds'];
  return (
    <Section title="Newest step" note={reason}>
      <Stats>
        <Stat label="Version" value={version} note={<StateBadge state={state} />} />
        <Stat
          label="Made"
          value={<Time at={at} />}
          note={`from ${parent === 0 ? 'the base model' : `version ${parent}`}`}
        />
        <Stat label="Trained on" value={counted(turns, 'turn')} />
        {loss !== undefined && <Stat label="Loss" value={numberText(loss)} />}
        {reward !== undefined && <Stat label="Mean reward" value={numberText(reward)} />}
        {clip !== undefined && <Stat label="Clipped" value={percent(clip)} note="of the tokens" />}
        {speed !== undefined && (
          <Stat
            label="Speed"
            value={whole(Math.round(speed))}
            note={`tokens/s${seconds === undefined ? '' : `, in ${latency(seconds * 1000)}`}`}
          />
        )}
      </Stats>
    </Section>
  );
}
