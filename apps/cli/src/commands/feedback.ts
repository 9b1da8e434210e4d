import { TurnId } from '@hindcast/contracts';
import type { Terminal } from '@hindcast/platform/terminal';
import { Argument, Command } from 'commander';
import { z } from 'zod';
import { GatewayRefusal, type Gateway } from '../gateway';
import { addGatewayOptions, gatewayOf, type GatewayFlags } from '../gateway-options';

const FeedbackReply = z.object({ turn_id: z.string(), status: z.enum(['accepted', 'late']) });

const SAID = {
  accepted: 'Accepted.',
  late: 'Recorded. It comes late: the turn was judged without it.',
} as const;

export interface GivenFeedback {
  readonly reward: -1 | 0 | 1;
  readonly comment?: string;
  readonly correction?: string;
}

/** `hindcast feedback`. */
export const feedback = (terminal: Terminal): Command =>
  addGatewayOptions(
    new Command('feedback')
      .description('say what you think of an answer; until it is decided, that trains')
      .argument('<id>', 'id of the turn, or of the response')
      .addArgument(new Argument('<reward>', '1 it worked, -1 it failed, 0 neither').choices(['-1', '0', '1'])),
  )
    .option('--comment <text>', 'in words')
    .option('--correction <text>', 'what it should have been; becomes the hint')
    .action(async (id: string, reward: string, flags: GatewayFlags & { comment?: string; correction?: string }) => {
      const { comment, correction } = flags;
      const reply = await giveFeedback(gatewayOf(terminal.env, flags), id, {
        reward: Number(reward) as GivenFeedback['reward'],
        ...(comment !== undefined && { comment }),
        ...(correction !== undefined && { correction }),
      });
      terminal.print(flags.json ? JSON.stringify(reply) : SAID[reply.status]);
    });

/** Of one's own tenant; a turn of another one is an administrator's to speak on. */
export async function giveFeedback(
  gateway: Gateway,
  id: string,
  given: GivenFeedback,
): Promise<z.infer<typeof FeedbackReply>> {
  const named = TurnId.safeParse(id).success ? { turn_id: id } : { response_id: id };
  try {
    return await gateway.post('/v1/feedback', { ...named, ...given }, FeedbackReply);
  } catch (error) {
    if (!(error instanceof GatewayRefusal) || error.status !== 404) throw error;
    const path = `/admin/v1/turns/${encodeURIComponent(id)}/feedback`;
    return await gateway.post(path, given, FeedbackReply).catch(() => {
      throw error;
    });
  }
}
