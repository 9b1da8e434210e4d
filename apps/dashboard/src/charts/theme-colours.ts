// A canvas knows no custom properties: what they come to is read from the page, and again when its theme changes.
import { useEffect, useState } from 'react';

export interface ChartColours {
  /** Of the lines, in their order. */
  readonly lines: readonly string[];
  readonly text: string;
  readonly grid: string;
  readonly refused: string;
  readonly rolledBack: string;
}

/** Lines of one chart that have a colour of their own. */
export const LINE_COLOURS = 5;

function readColours(): ChartColours {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const colour = (property: string): string => {
    probe.style.color = `var(${property})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    lines: Array.from({ length: LINE_COLOURS }, (_, at) => colour(`--series-${at + 1}`)),
    text: colour('--muted'),
    grid: colour('--line'),
    refused: colour('--bad'),
    rolledBack: colour('--warn'),
  };
  probe.remove();
  return colours;
}

/** The colours of now; new ones when the person or the system changes the theme. */
export function useChartColours(): ChartColours {
  const [colours, setColours] = useState(readColours);
  useEffect(() => {
    const change = (): void =>
      setColours((before) => {
        const now = readColours();
        return JSON.stringify(now) === JSON.stringify(before) ? before : now;
      });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const root = new MutationObserver(change);
    dark.addEventListener('change', change);
    root.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    change();
    return () => {
      dark.removeEventListener('change', change);
      root.disconnect();
    };
  }, []);
  return colours;
}
