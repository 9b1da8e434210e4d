import { secret } from '@hindcast/platform';
import { z } from 'zod';

/** What the command line itself is configured by; `hindcast doctor` also reads what the services are. */
export const CliConfig = z.object({
  /** Address of the gateway. Default: where `npm start` has it, else port 8080 of this machine. */
  HINDCAST_URL: z.url({ protocol: /^https?$/ }).optional(),
  HINDCAST_API_KEY: secret.optional(),
});

/** The person's environment, which every program that is started inherits. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;
