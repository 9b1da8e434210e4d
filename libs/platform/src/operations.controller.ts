import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Health } from './health';
import { Metrics } from './metrics';
import { Nats } from './nats';
import { exportReadiness } from './readiness-gauges';

/** What runs a service asks of it: alive, ready, numbers. */
@Controller()
export class OperationsController {
  constructor(
    private readonly health: Health,
    private readonly metrics: Metrics,
    private readonly nats: Nats,
  ) {
    exportReadiness(metrics, health);
  }

  @Get('healthz')
  healthz(): { ok: true } {
    return { ok: true };
  }

  /** Durability is what the streams' replicas survive: one file store outlives the process, three replicas a loss of power. */
  @Get('readyz')
  async readyz(@Res() reply: FastifyReply): Promise<void> {
    const readiness = await this.health.readiness();
    const { replicas } = this.nats;
    const durability = replicas === null ? null : replicas >= 3 ? 'power-loss' : 'process-death';
    await reply.status(readiness.ready ? 200 : 503).send({ ...readiness, durability });
  }

  @Get('metrics')
  async prometheus(@Res() reply: FastifyReply): Promise<void> {
    const text = await this.metrics.scrape();
    await reply.type(this.metrics.registry.contentType).send(text);
  }
}
