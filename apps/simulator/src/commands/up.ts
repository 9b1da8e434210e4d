import { heldOutQuestions } from '@hindcast/seed-world';
import { wholeNumber } from '@hindcast/platform/terminal';
import { Command, Option } from 'commander';
import { join, resolve } from 'node:path';
import { ChatClient } from '../client';
import { closingWords } from '../core/closing-words';
import { addDemoFlags, type DemoFlags } from '../options';
import { say } from '../progress';
import { BASE_MODEL, CURRENT_MODEL, printReport, runDemo } from '../run-demo';
import { root, withStack } from '../start-stack';
import type { Stack } from '../stack/stack';

interface Flags extends DemoFlags {
  readonly port?: number;
  readonly dataDir: string;
}

/** Where the command line looks for what `npm start` wrote down. */
const DATA_DIR = join(root, '.data/one-machine');

export const up = addDemoFlags(
  new Command('up').description(
    'Starts everything on this machine, lets simulated users talk to it, shows what changed, and keeps serving.',
  ),
  { sessions: 40 },
)
  .addOption(new Option('--port <n>', 'port of the gateway (default: 8080, or any free one)').argParser(wholeNumber(1)))
  .addOption(
    new Option('--data-dir <folder>', 'where everything is written and found again').default(
      DATA_DIR,
      '.data/one-machine',
    ),
  )
  .action(async (flags: Flags) => {
    await withStack(
      {
        dataDir: flags.dataDir,
        ports: 'default',
        ...(flags.port === undefined ? {} : { gatewayPort: flags.port }),
        method: flags.method,
        feedback: flags.feedback,
        seed: flags.seed,
        environmentWins: true,
        settings: flags.set,
      },
      async (stack) => {
        say(`Dashboard: ${stack.gatewayUrl}/`);
        stack.onEnded((ended) => say(`\n${ended}`));
        if (flags.sessions > 0) {
          printReport(await runDemo(stack, flags, flags.patience * 1000));
          await printBothAnswers(stack, flags.seed);
        }
        const isElsewhere = resolve(flags.dataDir) !== DATA_DIR;
        const { gatewayUrl, logFolder, asksForKey } = stack;
        say();
        for (const line of closingWords({ gatewayUrl, logFolder, model: CURRENT_MODEL, asksForKey, isElsewhere }))
          say(line);
        say();
        await new Promise<never>(() => setInterval(() => undefined, 60_000)); // serves until Ctrl-C
      },
    );
  });

async function printBothAnswers(stack: Stack, seed: number): Promise<void> {
  const client = new ChatClient(stack.gatewayUrl, stack.apiKey);
  const [question] = heldOutQuestions(`${seed}/shown`, 1);
  const messages = [{ role: 'user' as const, content: question!.text }];
  say();
  say(`One question that nobody asked before: ${question!.text}`);
  for (const [who, model] of [
    ['seed model', BASE_MODEL],
    ['last version', CURRENT_MODEL],
  ] as const) {
    const { text } = await client.ask({ model, messages, seed, turnType: 'side' });
    say(`  ${who.padEnd(12)}  ${text.replaceAll('\n', '\n                ')}`);
  }
}
