import { Controller, Get, Header } from '@nestjs/common';
import { openApi, type OpenApi } from './core/open-api/document';
import { openApiPage } from './core/open-api/page';

const page = openApiPage(openApi);

/** The HTTP interface as OpenAPI 3.1, and as a page that loads nothing from elsewhere. */
@Controller()
export class DocsController {
  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return page;
  }

  @Get(['openapi.json', 'docs/openapi.json'])
  json(): OpenApi {
    return openApi;
  }
}
