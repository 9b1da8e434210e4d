import { Controller, Get, Header } from '@nestjs/common';
import { openApi, openApiPage } from './core/open-api';

/** The HTTP interface as OpenAPI 3.1, and as a page that loads nothing from elsewhere. */
@Controller('docs')
export class DocsController {
  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return openApiPage();
  }

  @Get('openapi.json')
  json(): object {
    return openApi;
  }
}
