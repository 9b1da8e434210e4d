/** A span as it arrived. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly hasFailed: boolean;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}
type Attributes = readonly { readonly key: string; readonly value: Value }[] | undefined;

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly kind: number;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly attributes?: Attributes;
        readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status?: { readonly code?: number };
      }[];
    }[];
  }[];
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const FAILED = 2;

/** Spans of a file with one export a line, OTLP as JSON: what a collector's file exporter writes. */
export function spansOf(text: string): CollectedSpan[] {
  const exports = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exported);
  return exports.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const service = String(attributesOf(resource.attributes)['service.name']);
      return scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          service,
          name: span.name,
          kind: KINDS[span.kind] ?? 'internal',
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId || null,
          attributes: attributesOf(span.attributes),
          links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
          hasFailed: span.status?.code === FAILED,
        })),
      );
    }),
  );
}

const attributesOf = (attributes: Attributes): Record<string, string | number | boolean> =>
  Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, valueOf(value)]));

const valueOf = ({ stringValue, intValue, doubleValue, boolValue }: Value): string | number | boolean =>
  stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? '';
