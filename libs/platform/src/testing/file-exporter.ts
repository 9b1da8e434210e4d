import { appendFileSync } from 'node:fs';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/**
 * In place of the exporter over HTTP, which loads `http` in a way that jest's modules do not know: writes what that would send, one
 * export a line, to the file that TRACES_FILE names.
 */
export class OTLPTraceExporter implements SpanExporter {
  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const bytes = JsonTraceSerializer.serializeRequest(spans);
    appendFileSync(process.env['TRACES_FILE']!, `${Buffer.from(bytes!).toString('utf8')}\n`);
    done({ code: ExportResultCode.SUCCESS });
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}
