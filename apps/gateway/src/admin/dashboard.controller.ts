import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { HindcastError } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config';
import { MISSING_PAGE, PAGE_HEADERS, acceptedEncoding, cacheControl } from '../core/admin/static-files';
import { DASHBOARD_DIR, readDashboard, type DashboardFile } from './dashboard-files';

/** The dashboard: a page, and what it loads. It needs no key; what it shows does. */
@Controller()
export class DashboardController {
  private readonly files: ReadonlyMap<string, DashboardFile>;

  constructor(@Inject(CONFIG) config: GatewayConfig, log: Log) {
    this.files = readDashboard(config.DASHBOARD_DIR ?? DASHBOARD_DIR);
    if (this.files.size === 0) log.warn('dashboard.missing');
  }

  /** Which view it is the page finds out itself. */
  @Get(['/', 'ui', 'ui/*'])
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const index = this.files.get('index.html');
    if (index) return this.send('index.html', index, request, reply);
    void reply
      .headers(PAGE_HEADERS)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(MISSING_PAGE);
  }

  /** Looked up as it was asked for: nothing is decoded, so that no path leads out. */
  @Get('assets/*')
  asset(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const path = request.url.split('?', 1)[0]!.slice(1);
    const file = this.files.get(path);
    if (!file) throw new HindcastError('not-found', 'there is no such file');
    this.send(path, file, request, reply);
  }

  private send(path: string, file: DashboardFile, request: FastifyRequest, reply: FastifyReply): void {
    const { type, bytes, encoded } = file;
    const encoding = acceptedEncoding(request.headers['accept-encoding'], [...encoded.keys()]);
    void reply.headers({ ...PAGE_HEADERS, 'cache-control': cacheControl(path) }).type(type);
    // On the raw response: CORS_ORIGINS writes a list of its own there.
    if (encoded.size > 0) reply.raw.appendHeader('vary', 'Accept-Encoding');
    if (encoding === null) return void reply.send(bytes);
    void reply.header('content-encoding', encoding).send(encoded.get(encoding));
  }
}
