import { readFileSync } from 'node:fs';
import { HindcastError } from '@hindcast/contracts';
import { parseConfig } from '@hindcast/platform';
import { Option, type Command } from 'commander';
import { CliConfig } from './config';
import { Gateway } from './gateway';
import { gatewayUrl, type Env } from './written-settings';

export interface GatewayFlags {
  readonly gateway?: string;
  readonly keyFile?: string;
  readonly json?: boolean;
}

/** `--gateway --key-file --json`. A key is never an argument: arguments are open to every program of the machine. */
export const addGatewayOptions = (command: Command): Command =>
  command
    .option(
      '--gateway <url>',
      'address of the gateway (default: HINDCAST_URL, else where npm start has it, else port 8080)',
    )
    .option('--key-file <file>', 'file that holds the API key (default: HINDCAST_API_KEY)')
    .addOption(jsonOption());

export const jsonOption = (): Option => new Option('--json', 'print JSON');

/** @throws HindcastError `config-invalid` for what is no address, or no file */
export function gatewayOf(env: Env, flags: GatewayFlags): Gateway {
  const config = parseConfig('hindcast', CliConfig, {
    HINDCAST_URL: flags.gateway ?? env['HINDCAST_URL'],
    HINDCAST_API_KEY: env['HINDCAST_API_KEY'],
  });
  const url = config.HINDCAST_URL ?? gatewayUrl(env);
  // A base URL as clients have it is as good.
  return new Gateway({ url: url.replace(/\/+$/, '').replace(/\/v1$/, ''), key: keyOf(config.HINDCAST_API_KEY, flags) });
}

function keyOf(fromEnvironment: string | undefined, { keyFile }: GatewayFlags): string | null {
  if (keyFile === undefined) return fromEnvironment ?? null;
  let text: string;
  try {
    text = readFileSync(keyFile, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // Not its name: whoever takes the option for the key itself would find it in a log.
    throw new HindcastError('config-invalid', `the file that --key-file names cannot be read (${code ?? 'unknown'})`);
  }
  const key = text.trim();
  if (key === '' || /\s/.test(key))
    throw new HindcastError('config-invalid', 'the file that --key-file names holds no key: one word is needed');
  return key;
}
