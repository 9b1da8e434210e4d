// Subjects, streams, consumers and buckets are those of libs/contracts, wherever a manifest writes one: triggers, metrics, dashboards, nats.conf.
import { appOfImage, idOf, ofKind, textsOf, workloadsOf } from '../objects.mjs';

export function busNames(objects, { bus }) {
  return objects.flatMap((object) =>
    textsOf(object).flatMap(([, text]) =>
      unknownNames(text, bus).map((message) => ({ object: idOf(object), message })),
    ),
  );
}

function unknownNames(text, { subjects, streams, buckets, consumers }) {
  const found = (pattern) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name))];
  return [
    ...found(/\b(rl\.(?:v\d+|query)\.[A-Za-z0-9_.*>-]*[A-Za-z0-9_*>])/g)
      .filter((name) => !subjects.some((subject) => covers(name, subject) || covers(subject, name)))
      .map((name) => `no contract has the subject ${name}; the subjects are in libs/contracts/src/registry.ts`),
    ...found(/\b([a-z]+(?:-[a-z]+)*--[a-z0-9-]+)\b/g)
      .filter((name) => /--rl-/.test(name) && !consumers.has(name))
      .map((name) => `no service has the consumer ${name}; the consumers are ${[...consumers.keys()].join(', ')}`),
    ...found(/\bstream(?:_name)?\s*=~?\s*"([\w-]+)"/g)
      .concat(found(/\$JS\.API\.(?:STREAM|CONSUMER)\.[A-Z]+(?:\.[A-Z]+)?\.(RL\w*)/g))
      .filter((name) => !streams.includes(name))
      .map((name) => `there is no stream ${name}; the streams are ${streams.join(', ')}`),
    ...found(/\$KV\.([a-z][\w-]*)/g)
      .concat(found(/\bKV_([a-z][\w-]*)/g))
      .filter((name) => !buckets.includes(name))
      .map((name) => `there is no bucket ${name}; the buckets are ${buckets.join(', ')}`),
  ];
}

/** Whether a subject with wildcards covers another one. */
function covers(pattern, subject) {
  const wanted = pattern.split('.');
  const given = subject.split('.');
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return given.length > index;
    if (given[index] === undefined || (token !== '*' && token !== given[index])) return false;
  }
  return wanted.length === given.length;
}

/** A backlog is that of the service which it scales. */
export function scalingNames(objects, { bus }) {
  return [...triggersOf(objects), ...externalMetricsOf(objects)].flatMap(({ object, target, stream, consumer }) => {
    const say = (message) => ({ object, message });
    if (consumer === undefined || stream === null) return [say('names no consumer or no stream; add both')];
    const known = bus.consumers.get(consumer);
    if (!known)
      return [say(`no service has the consumer ${consumer}; name one of ${[...bus.consumers.keys()].join(', ')}`)];
    return [
      ...(stream === undefined || known.stream === stream
        ? []
        : [say(`the consumer ${consumer} reads the stream ${known.stream}, not ${stream}; correct it`)]),
      ...(known.app === target
        ? []
        : [say(`scales ${target} on the backlog of ${known.app}; name a consumer of ${target}`)]),
    ];
  });
}

function triggersOf(objects) {
  return ofKind(objects, 'ScaledObject').flatMap((scaled) =>
    (scaled.spec?.triggers ?? [])
      .filter(({ type }) => type === 'nats-jetstream')
      .map(({ metadata = {} }) => ({
        object: idOf(scaled),
        target: appScaled(scaled, objects),
        stream: metadata.stream ?? null,
        consumer: metadata.consumer,
      })),
  );
}

/** The consumer is a label of the metric: `durable` of the services' own `hindcast_consumer_lag`, or `consumer`. */
function externalMetricsOf(objects) {
  return ofKind(objects, 'HorizontalPodAutoscaler').flatMap((scaler) =>
    (scaler.spec?.metrics ?? [])
      .filter(({ type }) => type === 'External')
      .map(({ external }) => {
        const { consumer, durable, stream } = external?.metric?.selector?.matchLabels ?? {};
        return { object: idOf(scaler), target: appScaled(scaler, objects), stream, consumer: consumer ?? durable };
      }),
  );
}

function appScaled({ spec }, objects) {
  const { name, kind = 'Deployment' } = spec?.scaleTargetRef ?? {};
  const target = workloadsOf(objects).find(({ object }) => object.kind === kind && object.metadata.name === name);
  return target ? (appOfImage(target.containers.find(({ isInit }) => !isInit)?.image) ?? target.app) : name;
}
