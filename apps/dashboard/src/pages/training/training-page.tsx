import { useEffect, useMemo } from 'react';
import { useStreamed } from '../../api/events';
import { Chart } from '../../charts/chart';
import { whole } from '../../core/number';
import { sampleBars, stepCharts } from '../../core/step-charts';
import { stepMarks } from '../../core/step-series';
import { announce } from '../../layout/announcer';
import { Answered } from '../../parts/answered';
import { useAwaited } from '../../parts/busy';
import { Empty } from '../../parts/empty';
import { Failure } from '../../parts/failure';
import { Meter } from '../../parts/meter';
import { Page } from '../../parts/page';
import { Link } from '../../router/link';
import { useQuery } from '../../router/use-query';
import { NewestStep } from './newest-step';
import { MarkedSteps } from './marked-steps';
import { useSteps, type StepsReading } from './use-steps';
import './training.css';

const RANGES = [50, 200, 1_000];
const SMOOTHINGS = [
  { value: '', label: 'none', weight: 0 },
  { value: 'some', label: 'some', weight: 0.6 },
  { value: 'strong', label: 'strong', weight: 0.9 },
];

/** What each step of the trainer did. */
export function TrainingPage() {
  const [query, setQuery] = useQuery(['range', 'smoothing']);
  const wanted = RANGES.find((range) => String(range) === query.range) ?? RANGES[0]!;
  const smoothing = SMOOTHINGS.find(({ value }) => value === query.smoothing)?.weight ?? 0;
  const reading = useSteps(wanted);
  return (
    <Page
      title="Training"
      lead="What each step of the trainer did, by the version that it made."
      actions={
        <>
          <label className="choice">
            Steps
            <select value={wanted} onChange={({ target }) => setQuery({ range: target.value })}>
              {RANGES.map((range) => (
                <option key={range} value={range}>
                  last {whole(range)}
                </option>
              ))}
            </select>
          </label>
          <label className="choice">
            Smoothing
            <select value={query.smoothing} onChange={({ target }) => setQuery({ smoothing: target.value })}>
              {SMOOTHINGS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </>
      }
    >
      <Answered answer={reading.newest} what="the steps" lines={8}>
        {({ steps }) =>
          steps.length === 0 ? <NoStep /> : <Steps reading={reading} wanted={wanted} smoothing={smoothing} />
        }
      </Answered>
    </Page>
  );
}

function NoStep() {
  const overview = useStreamed('overview');
  const waiting = overview?.ledger?.status.waitingSamples;
  const size = overview?.batch?.size;
  return (
    <Empty title="The trainer has made no step yet.">
      {waiting !== undefined && size !== undefined
        ? `${whole(waiting)} of the ${whole(size)} samples of the next batch are waiting. `
        : 'A step begins when a batch of samples is ready. '}
      <Link to="/">The overview</Link> shows where turns go.
    </Empty>
  );
}

function Steps({
  reading,
  wanted,
  smoothing,
}: {
  readonly reading: StepsReading;
  readonly wanted: number;
  readonly smoothing: number;
}) {
  const { steps, isLoading, failure, again } = reading;
  const all = useStreamed('overview')?.ledger?.status.steps;
  const total = Math.max(steps.length, Math.min(wanted, all ?? wanted));
  const versions = useMemo(() => steps.map(({ version }) => version), [steps]);
  const charts = useMemo(() => stepCharts(steps), [steps]);
  const samples = useMemo(() => sampleBars(steps), [steps]);
  const marks = useMemo(() => stepMarks(steps), [steps]);
  const newest = steps.at(-1);
  const isWhole = !isLoading && failure === null;
  useEffect(() => {
    if (isWhole && wanted > RANGES[0]!) announce(`${whole(versions.length)} steps are shown`);
    // Said when a range is complete, not with every new step.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isWhole, wanted]);
  const shared = { places: versions, placeNoun: 'step', marks, syncKey: 'steps' };
  return (
    <>
      {newest !== undefined && <NewestStep step={newest} />}
      {isLoading && <Progress read={steps.length} total={total} />}
      {failure !== null && (
        <Failure failure={failure} what="Older steps could not be read; the charts begin later" again={again} />
      )}
      <MarkedSteps steps={steps} marks={marks} />
      <div className="charts">
        {charts.map(({ plan, lines }) => (
          <Chart
            key={plan.id}
            {...shared}
            title={plan.title}
            about={plan.about}
            unit={plan.unit}
            lines={lines}
            smoothing={smoothing}
          />
        ))}
        {samples.length > 0 && (
          <Chart
            {...shared}
            title="Samples of each batch"
            about="By what they were trained on: a teacher, a reward, or both."
            unit="samples"
            lines={samples}
            kind="stack"
          />
        )}
      </div>
    </>
  );
}

function Progress({ read, total }: { readonly read: number; readonly total: number }) {
  useAwaited();
  return (
    <div className="reading" role="status">
      <p>
        Reading steps: {whole(read)} of {whole(total)}…
      </p>
      <Meter label="Steps read" value={read} max={total} />
    </div>
  );
}
