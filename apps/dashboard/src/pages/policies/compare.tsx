import type { CurrentPolicy, VersionRow } from '@hindcast/contracts';
import { useMemo, useState, type FormEvent } from 'react';
import { useStreamed } from '../../api/events';
import {
  comparableModels,
  demoPrompts,
  firstPair,
  lastingLabel,
  type ComparableModel,
} from '../../core/comparable-models';
import { Button } from '../../parts/button';
import { Field } from '../../parts/field';
import { Section } from '../../parts/page';
import { ComparedAnswer } from './compared-answer';
import { useChat } from './use-chat';

export interface CompareProps {
  readonly current: CurrentPolicy;
  readonly versions: readonly VersionRow[];
}

/** One prompt, answered by two versions side by side. */
export function Compare({ current, versions }: CompareProps) {
  const engines = useStreamed('overview')?.engines;
  const models = useMemo(
    () =>
      comparableModels(
        (engines ?? []).map((engine) => engine.models),
        versions,
        current,
      ),
    [engines, versions, current],
  );
  const first = firstPair(models, current);
  const [chosen, setChosen] = useState<readonly [string | null, string | null]>([null, null]);
  const [prompt, setPrompt] = useState('');
  const [labels, setLabels] = useState<readonly [string, string]>(['', '']);
  const left = useChat();
  const right = useChat();
  // A version that was unloaded meanwhile is no choice any more.
  const pick = (side: 0 | 1): string | null =>
    models.some(({ model }) => model === chosen[side]) ? chosen[side] : (first?.[side] ?? null);
  const [leftModel, rightModel] = [pick(0), pick(1)];
  const prompts = demoPrompts(models);
  const isRunning = left.state.isRunning || right.state.isRunning;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRunning || leftModel === null || rightModel === null || prompt.trim() === '') return;
    const labelOf = (model: string): string =>
      lastingLabel(models.find((each) => each.model === model)?.label ?? model);
    setLabels([labelOf(leftModel), labelOf(rightModel)]);
    void left.ask(leftModel, prompt);
    void right.ask(rightModel, prompt);
  };
  const stop = (): void => {
    left.stop();
    right.stop();
  };
  return (
    <Section
      title="Compare"
      note="One prompt, answered by two versions that an engine has loaded, sampled as the gateway samples. Nothing of it is captured or trained."
    >
      {models.length === 0 ? (
        <p className="muted">No engine has said which models it has.</p>
      ) : (
        <form className="compare" onSubmit={submit}>
          <div className="compare-choice">
            <ModelChoice
              label="Left"
              models={models}
              value={leftModel}
              onChange={(model) => setChosen([model, chosen[1]])}
            />
            <ModelChoice
              label="Right"
              models={models}
              value={rightModel}
              onChange={(model) => setChosen([chosen[0], model])}
            />
          </div>
          {models.length === 1 && (
            <p className="muted">
              Only one name is loaded:{' '}
              {current.weights === 'replaced'
                ? 'the engine has one set of weights at a time.'
                : 'a first version gives a second one.'}
            </p>
          )}
          <Field label="Prompt">
            {(props) => (
              <textarea
                {...props}
                rows={3}
                required
                value={prompt}
                onChange={({ target }) => setPrompt(target.value)}
              />
            )}
          </Field>
          {prompts.length > 0 && (
            <div className="compare-prompts">
              <p className="muted">The demo’s model is tiny and knows only some questions, such as:</p>
              {prompts.map((each) => (
                <Button key={each} kind="quiet" onClick={() => setPrompt(each)}>
                  {each}
                </Button>
              ))}
            </div>
          )}
          <div className="compare-actions">
            <Button type="submit" kind="primary" isBusy={isRunning}>
              {isRunning ? 'Answering…' : 'Ask both'}
            </Button>
            {isRunning && <Button onClick={stop}>Stop</Button>}
          </div>
          <div className="compare-answers">
            <ComparedAnswer side="Left" state={left.state} label={labels[0]} />
            <ComparedAnswer side="Right" state={right.state} label={labels[1]} />
          </div>
        </form>
      )}
    </Section>
  );
}

interface ModelChoiceProps {
  readonly label: string;
  readonly models: readonly ComparableModel[];
  readonly value: string | null;
  readonly onChange: (model: string) => void;
}

function ModelChoice({ label, models, value, onChange }: ModelChoiceProps) {
  return (
    <Field label={label}>
      {(props) => (
        <select {...props} value={value ?? ''} onChange={({ target }) => onChange(target.value)}>
          {models.map((each) => (
            <option key={each.model} value={each.model}>
              {each.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
