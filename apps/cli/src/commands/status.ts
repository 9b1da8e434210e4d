import { setTimeout as sleep } from 'node:timers/promises';
import { Overview } from '@hindcast/contracts';
import { painter, type Terminal } from '@hindcast/platform/terminal';
import { Command } from 'commander';
import { statusLines } from '../core/status-view';
import { addGatewayOptions, gatewayOf, type GatewayFlags } from '../gateway-options';
import type { Screen } from '../screen';

const REDRAW_MS = 1_000;

interface Flags extends GatewayFlags {
  readonly once?: boolean;
}

/** `hindcast status`: once, or drawn again each second where somebody looks at it. */
export const status = (terminal: Terminal, screen: Screen): Command =>
  addGatewayOptions(
    new Command('status').description(
      'how the loop stands: turns, cases, reasons, the next step, the version that serves, health',
    ),
  )
    .option('--once', 'once, on a terminal too, where it is otherwise drawn again each second')
    .action(async (flags: Flags) => {
      const gateway = gatewayOf(terminal.env, flags);
      const colours = painter(screen.isTerminal, terminal.env);
      const lines = (overview: Overview): string[] =>
        statusLines(overview, { url: gateway.place.url, now: Date.now(), painter: colours });
      const first = await gateway.get('/admin/v1/overview', Overview);
      if (flags.json) return terminal.print(JSON.stringify(first));
      if (!screen.isTerminal || flags.once) return terminal.print(lines(first).join('\n'));
      let shown = lines(first);
      for (;;) {
        screen.redraw([...shown, '', colours.paint('Ctrl-C ends this.', 'grey')]);
        await sleep(REDRAW_MS);
        shown = await gateway
          .get('/admin/v1/overview', Overview)
          .then(lines, (error: Error) => [...shown.filter((line) => !line.startsWith('! ')), `! ${error.message}`]);
      }
    });
