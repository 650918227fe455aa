/**
 * The fields of other projects' Kubernetes resources that our chart uses, as JSON schemas. These are not the schemas of KEDA and the
 * Prometheus Operator, which no package registry has: written from their documentation, they accept nothing beyond what we use.
 */
const text = { type: 'string', minLength: 1 } as const
const texts = { type: 'object', additionalProperties: { type: 'string' } } as const
const closed = (properties: Readonly<Record<string, object>>, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const resource = (apiVersion: string, kind: string, spec: object) => ({
  // Kubeconform takes a schema that does not say so for one of draft 4, which has no `const`.
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...closed({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata: closed({ name: text, labels: texts }), spec }),
})

/** Prometheus' own notation, such as `30s` or `1m30s`. */
const DURATION = String.raw`^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`
const LABEL_SELECTOR = closed(
  {
    matchLabels: texts,
    matchExpressions: {
      type: 'array',
      items: closed({ key: text, operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] }, values: { type: 'array', items: text } }),
    },
  },
  [],
)

/** By the names under which kubeconform looks for them. */
export const USED_FIELDS: Readonly<Record<string, object>> = {
  'scaledobject-keda-v1alpha1': resource(
    'keda.sh/v1alpha1',
    'ScaledObject',
    closed({
      scaleTargetRef: closed({ apiVersion: text, kind: text, name: text }),
      minReplicaCount: { type: 'integer', minimum: 0 },
      maxReplicaCount: { type: 'integer', minimum: 1 },
      cooldownPeriod: { type: 'integer', minimum: 0 },
      advanced: closed({
        horizontalPodAutoscalerConfig: closed({
          behavior: closed({ scaleDown: closed({ stabilizationWindowSeconds: { type: 'integer', minimum: 0, maximum: 3_600 } }) }),
        }),
      }),
      triggers: {
        type: 'array',
        minItems: 1,
        // The metadata of a trigger are texts, numbers too.
        items: closed({
          type: { const: 'prometheus' },
          metadata: closed({
            serverAddress: { type: 'string', pattern: '^https?://' },
            query: text,
            threshold: { type: 'string', pattern: String.raw`^\d+(\.\d+)?$` },
          }),
        }),
      },
    }),
  ),
  'podmonitor-monitoring-v1': resource(
    'monitoring.coreos.com/v1',
    'PodMonitor',
    closed({
      selector: LABEL_SELECTOR,
      podMetricsEndpoints: {
        type: 'array',
        minItems: 1,
        items: closed({
          port: text,
          path: { type: 'string', pattern: '^/' },
          interval: { type: 'string', minLength: 2, pattern: DURATION },
          authorization: closed({ credentials: closed({ name: text, key: text }) }),
        }),
      },
    }),
  ),
}
