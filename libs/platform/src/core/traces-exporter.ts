/** The variables that decide whether traces leave, and how; names and meaning are OpenTelemetry's. */
export interface TracesSettings {
  readonly OTEL_SDK_DISABLED?: boolean | undefined;
  readonly OTEL_TRACES_EXPORTER?: 'otlp' | 'console' | 'none' | undefined;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_PROTOCOL?: OtlpProtocol | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?: OtlpProtocol | undefined;
}

export type OtlpProtocol = 'http/protobuf' | 'http/json';
export type TracesExporter = OtlpProtocol | 'console';

/**
 *   OTEL_SDK_DISABLED   OTEL_TRACES_EXPORTER   an OTLP endpoint   traces
 *   true                any                    any                none
 *   –                   none                   any                none
 *   –                   console                any                to standard output
 *   –                   otlp                   any                by OTLP
 *   –                   –                      set                by OTLP
 *   –                   –                      –                  none
 */
export function tracesExporterOf(settings: TracesSettings): TracesExporter | null {
  const endpoint = settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  const exporter = settings.OTEL_TRACES_EXPORTER ?? (endpoint === undefined ? 'none' : 'otlp');
  if (settings.OTEL_SDK_DISABLED || exporter === 'none') return null;
  if (exporter === 'console') return 'console';
  return settings.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
}
