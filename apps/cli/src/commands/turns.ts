import { GateCase, ShownTurn, TurnsPage, TurnState } from '@hindcast/contracts';
import { painter, textTable, wholeNumber, type Terminal } from '@hindcast/platform/terminal';
import { Command, Option } from 'commander';
import { turnRow, TURN_HEADING } from '../core/turn-row';
import { storyOf } from '../core/turn-story';
import { tokenTable } from '../core/turn-tokens';
import { addGatewayOptions, gatewayOf, type GatewayFlags } from '../gateway-options';
import type { Screen } from '../screen';

/** Turns of one request. */
const PAGE = 200;

interface ListFlags extends GatewayFlags {
  readonly state?: string;
  readonly case?: string;
  readonly reason?: string;
  readonly session?: string;
  readonly tenant?: string;
  readonly policyVersion?: number;
  readonly text?: string;
  readonly before?: string;
  readonly limit: number;
}

/** `hindcast turns list` and `hindcast turns show`. */
export function turns(terminal: Terminal, screen: Screen): Command {
  const command = new Command('turns').description('the turns: list them, show one whole');
  addGatewayOptions(command.command('list').description('newest first'))
    .addOption(new Option('--state <state>', 'in this state').choices(TurnState.options))
    .addOption(new Option('--case <case>', 'that the gate gave this case').choices(GateCase.options))
    .option('--reason <reason>', 'with this reason, or with those that begin with it when it ends in *')
    .option('--session <id>', 'of this session: its id as this list shows it')
    .option('--tenant <name>', 'of this tenant')
    .addOption(new Option('--policy-version <n>', 'that this version answered').argParser(wholeNumber(0)))
    .option('--text <words>', 'whose request, answer or next state hold all of these words')
    .option('--before <cursor>', 'further back: what a list said at its end')
    .addOption(new Option('--limit <n>', 'at most so many').argParser(wholeNumber(1)).default(20))
    .action((flags: ListFlags) => list(terminal, flags));
  addGatewayOptions(
    command
      .command('show')
      .argument('<id>', 'id of the turn, or of the response')
      .description('its conversation, votes, hint, decision, and its tokens with their advantages'),
  )
    .option('--tokens', 'every token in a row of a table')
    .action((id: string, flags: GatewayFlags & { tokens?: boolean }) => show(terminal, screen, id, flags));
  return command;
}

async function list(terminal: Terminal, flags: ListFlags): Promise<void> {
  const gateway = gatewayOf(terminal.env, flags);
  const found: TurnsPage['turns'] = [];
  let next: string | null = flags.before ?? null;
  do {
    const query = queryOf(flags, next, Math.min(PAGE, flags.limit - found.length));
    const page: TurnsPage = await gateway.get(`/admin/v1/turns?${query}`, TurnsPage);
    found.push(...page.turns);
    next = page.next;
  } while (next !== null && found.length < flags.limit);
  if (flags.json) return terminal.print(JSON.stringify({ turns: found, next }));
  if (found.length === 0) return terminal.say('There are no such turns.');
  const now = Date.now();
  terminal.print(
    textTable(
      TURN_HEADING,
      found.map((turn) => turnRow(turn, now)),
      terminal.width,
    ),
  );
  if (next !== null) terminal.say(`There are more: --before ${next}`);
}

function queryOf(flags: ListFlags, before: string | null, limit: number): URLSearchParams {
  const { state, case: gateCase, reason, session, tenant, policyVersion, text } = flags;
  const filter = { state, case: gateCase, reason, session, tenant, version: policyVersion, text, before, limit };
  return new URLSearchParams(
    Object.entries(filter)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]): [string, string] => [name, String(value)]),
  );
}

async function show(
  terminal: Terminal,
  screen: Screen,
  id: string,
  flags: GatewayFlags & { readonly tokens?: boolean },
): Promise<void> {
  const turn = await gatewayOf(terminal.env, flags).get(`/admin/v1/turns/${encodeURIComponent(id)}`, ShownTurn);
  if (flags.json) return terminal.print(JSON.stringify(turn));
  const colours = painter(screen.isTerminal, terminal.env);
  terminal.print(storyOf(turn, { now: Date.now(), painter: colours }).join('\n'));
  if (!flags.tokens) return;
  const table = tokenTable(turn);
  if (table) terminal.print(`\n${textTable(table.heading, table.rows)}`);
  else terminal.say('No recording of its tokens is kept.');
}
