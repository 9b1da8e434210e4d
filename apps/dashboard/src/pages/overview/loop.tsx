import type { Overview } from '@hindcast/contracts';
import { loopArrows, nodeHealth, type LoopArrow, type LoopNode } from '../../core/loop';
import { short, whole } from '../../core/number';
import { Section } from '../../parts/page';
import { TALL, WIDE, type LoopLayout, type LoopLine } from './loop-layout';

const NODES: Readonly<Record<LoopNode, string>> = {
  gateway: 'Gateway',
  judge: 'Judge',
  teacher: 'Teacher',
  gate: 'Gate',
  trainer: 'Trainer',
  engines: 'Engines',
};
const names = Object.keys(NODES) as LoopNode[];

/** The way of a turn from the engines around to the engines, with live counts; a picture, and the same as a table to be heard. */
export function Loop({ overview }: { readonly overview: Overview }) {
  const arrows = loopArrows(overview.ledger);
  return (
    <Section title="The loop">
      <div className="loop">
        <Picture layout={WIDE} arrows={arrows} overview={overview} />
        <Picture layout={TALL} arrows={arrows} overview={overview} />
      </div>
      <LoopTable arrows={arrows} />
    </Section>
  );
}

interface PictureProps {
  readonly layout: LoopLayout;
  readonly arrows: readonly LoopArrow[];
  readonly overview: Overview;
}

function Picture({ layout, arrows, overview }: PictureProps) {
  const head = `loop-head-${layout.name}`;
  return (
    <svg className={`loop-${layout.name}`} viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
      <defs>
        <marker id={head} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
          <path d="M0 0 L8 4 L0 8 z" className="loop-head" />
        </marker>
      </defs>
      {arrows.map((arrow) => {
        const line = layout.arrows[`${arrow.from}-${arrow.to}`]!;
        return (
          <g key={`${arrow.from}-${arrow.to}`}>
            <path d={line.path} className="loop-line" markerEnd={`url(#${head})`} />
            <ArrowText arrow={arrow} line={line} />
          </g>
        );
      })}
      {names.map((node) => (
        <Node key={node} node={node} layout={layout} overview={overview} />
      ))}
    </svg>
  );
}

function ArrowText({ arrow, line }: { readonly arrow: LoopArrow; readonly line: LoopLine }) {
  const { count, what, waiting, waitingWhat } = arrow;
  const [x, y] = line.text;
  const place = { x, textAnchor: line.anchor };
  const below = line.isStacked ? 17 : 0;
  return (
    <>
      <text {...place} y={y} className="loop-count">
        {count === null ? '–' : short(count)}
        {!line.isStacked && <tspan className="loop-what"> {what}</tspan>}
      </text>
      {line.isStacked && (
        <text {...place} y={y + below} className="loop-what">
          {what}
        </text>
      )}
      {waiting !== null && (
        <text {...place} y={y + below + line.gap} className="loop-waiting" data-some={waiting > 0}>
          {short(waiting)} {waitingWhat}
        </text>
      )}
    </>
  );
}

interface NodeProps {
  readonly node: LoopNode;
  readonly layout: LoopLayout;
  readonly overview: Overview;
}

function Node({ node, layout, overview }: NodeProps) {
  const [x, y] = layout.nodes[node];
  const { width, height } = layout.node;
  const { ok, text } = nodeHealth(node, overview);
  return (
    <g transform={`translate(${x} ${y})`} data-ok={ok}>
      <rect width={width} height={height} rx="6" className="loop-node" />
      <text x="12" y={height / 2 - 5} className="loop-name">
        {NODES[node]}
      </text>
      <text x="12" y={height / 2 + 15} className="loop-health">
        {ok ? '●' : '▲'} {text}
      </text>
    </g>
  );
}

function LoopTable({ arrows }: { readonly arrows: readonly LoopArrow[] }) {
  const said = (count: number | null): string => (count === null ? 'not known' : whole(count));
  return (
    <div className="only-heard">
      <table>
        <caption>The loop: what went from where to where, and what waits</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">What</th>
            <th scope="col">So far</th>
            <th scope="col">Waiting</th>
          </tr>
        </thead>
        <tbody>
          {arrows.map(({ from, to, what, count, waiting, waitingWhat }) => (
            <tr key={`${from}-${to}`} data-arrow={`${from}-${to}`}>
              <th scope="row">{NODES[from]}</th>
              <td>{NODES[to]}</td>
              <td>{what}</td>
              <td>{said(count)}</td>
              <td>{waitingWhat === '' ? 'nothing can wait' : `${said(waiting)} ${waitingWhat}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
