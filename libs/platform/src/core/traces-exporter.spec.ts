import { tracesExporterOf, type TracesExporter, type TracesSettings } from './traces-exporter';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

it.each<[TracesExporter | null, TracesSettings]>([
  [null, {}],
  [null, { OTEL_TRACES_EXPORTER: 'none', ...endpoint }],
  [null, { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: true, ...endpoint }],
  ['http/protobuf', { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: false }],
  ['http/protobuf', endpoint],
  ['http/protobuf', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }],
  ['console', { OTEL_TRACES_EXPORTER: 'console', ...endpoint }],
  ['http/json', { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...endpoint }],
  [
    'http/json',
    {
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_TRACES_EXPORTER: 'otlp',
    },
  ],
])('sends by %s with %j', (exporter, settings) => {
  expect(tracesExporterOf(settings)).toBe(exporter);
});
