import { randomUUID } from 'node:crypto';
import { contracts, type MessageOf, type UnhintedTurn } from '@hindcast/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const vote = (score: UnhintedTurn['evalScore'] | null): UnhintedTurn['evalVotes'][number] => ({
  score,
  abstained: score === null ? 'timeout' : null,
  latencyMs: 1,
  promptTokens: null,
  completionTokens: null,
  cost: null,
  promptVersion: null,
  raw: '',
});

/** Publishes judgements of a version's turns as judge-svc does; `null`: every vote abstained. */
export async function judge(
  natsUrl: string,
  policyVersion: number,
  scores: readonly (UnhintedTurn['evalScore'] | null)[],
): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  for (const score of scores) {
    const turnId = randomUUID();
    const body: UnhintedTurn = {
      responseId: `response-${turnId}`,
      sessionId: null,
      policyVersion,
      evalScore: score ?? 0,
      evalVotes: [vote(score)],
      hintVotes: [],
      rewardSource: 'votes',
      verdicts: [],
      guards: [],
      judgeModel: 'judge',
      promptVersion: '1',
      latencyMs: 1,
      truncated: false,
      outcomePending: false,
      hint: null,
    };
    const message: MessageOf<'turnUnhinted'> = { v: 1, turnId, tenant: 'default', at: Date.now(), body };
    await jetstream(connection).publish(contracts.turnUnhinted.subject, JSON.stringify(message));
  }
  await connection.close();
}
