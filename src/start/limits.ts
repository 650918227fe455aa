/** What `GET /v1/limits` returns. Every number comes from the constant or the schema that enforces it; none is repeated here. */
import { ANONYMOUS_REQUESTS_PER_MINUTE, USER_REQUESTS_PER_HOUR } from '#access/authenticate.ts'
import { ATTEMPTS_PER_WINDOW } from '#access/shares.ts'
import { STREAM_LIMITS } from '#background/event-stream.ts'
import { CONNECTION_LIMITS } from '#core/connections.ts'
import * as cql2 from '#core/cql2.ts'
import { MAX_TEXT_LENGTH } from '#core/cql2-text.ts'
import { MAX_VERTICES } from '#core/geometry.ts'
import * as analysis from '#domains/analytics/zonal_stats.lib.ts'
import { TESTS_PER_MINUTE } from '#domains/event_subscriptions/wire.ts'
import * as body from '#http/body.ts'
import type { Limits } from '#http/limits.ts'
import { isPublished } from '#http/openapi.ts'
import { PUBLIC_BYTES, SIGN_IN_BYTES, STANDARD_BYTES } from '#http/read-body.ts'
import { MAX_RULES_PER_ORGANIZATION } from '#model/events/alert-rule.ts'
import { MAX_DELIVERED, MAX_WAITING } from '#model/events/delivery.ts'
import { MAX_SUBSCRIPTIONS } from '#model/events/subscription.ts'
import { MAX_FILES_PER_SESSION } from '#model/imagery/upload-file.ts'
import { MAX_TEMPLATES } from '#model/orders/template.ts'
import { MAX_STARTS_PER_MINUTE } from '#model/plans/download-quota.ts'
import { MAX_RUNNING_PER_ORGANIZATION } from '#model/processing/run.ts'
import type { AnyOperation } from '#operation.ts'
import { MAX_BAND, MAX_CHARACTERS, MAX_DEPTH } from '#raster/expression/index.ts'
import * as zonalStats from '#services/processing/processes/zonal-stats.ts'
import { MAX_SOURCES } from '#services/processing/sources.ts'
import { MAX_OUTPUT_PIXELS } from '#services/processing/work.ts'
import { MAX_ASSETS_PER_ITEM } from '#wire/item.ts'

const PAGE_FIELDS = ['limit', 'offset', 'page', 'size']

export function limitsOf(operations: ReadonlyMap<string, AnyOperation>): Limits {
  const published = [...operations.values()].filter(isPublished).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return {
    bodies: {
      sign_in_bytes: SIGN_IN_BYTES,
      public_bytes: PUBLIC_BYTES,
      standard_bytes: STANDARD_BYTES,
      operations: Object.fromEntries(published.flatMap(({ id, maxBodyBytes }) => (maxBodyBytes === undefined ? [] : [[id, maxBodyBytes]]))),
      depth: body.MAX_DEPTH,
      members: body.MAX_MEMBERS,
    },
    requests: {
      per_user_per_hour: USER_REQUESTS_PER_HOUR,
      anonymous_per_minute: ANONYMOUS_REQUESTS_PER_MINUTE,
      endpoint_tests_per_minute: TESTS_PER_MINUTE,
      share_passwords_per_minute: ATTEMPTS_PER_WINDOW,
      downloads_per_minute: MAX_STARTS_PER_MINUTE,
    },
    expressions: { characters: MAX_CHARACTERS, depth: MAX_DEPTH, bands: MAX_BAND },
    filters: {
      terms: cql2.MAX_FILTER_NODES,
      depth: cql2.MAX_FILTER_DEPTH,
      characters: MAX_TEXT_LENGTH,
      geometries: cql2.MAX_GEOMETRIES,
      vertices: cql2.MAX_FILTER_VERTICES,
    },
    geometries: {
      vertices: MAX_VERTICES,
      analysis_zones: analysis.MAX_ZONES,
      analysis_zone_vertices: analysis.MAX_ZONE_VERTICES,
      job_zones: zonalStats.MAX_ZONES,
      job_zone_vertices: zonalStats.MAX_VERTICES,
    },
    pages: { operations: Object.fromEntries(published.map((op) => [op.id, pageFields(op)] as const).filter(([, of]) => hasAny(of))) },
    connections: { total: CONNECTION_LIMITS.maxConnections, per_address: CONNECTION_LIMITS.maxPerAddress },
    event_streams: {
      total: STREAM_LIMITS.inAll,
      per_organization: STREAM_LIMITS.perOrganization,
      per_user: STREAM_LIMITS.perUser,
      per_address: STREAM_LIMITS.perAddress,
    },
    organizations: {
      alert_rules: MAX_RULES_PER_ORGANIZATION,
      webhooks: MAX_SUBSCRIPTIONS,
      pending_deliveries: MAX_WAITING,
      listed_deliveries: MAX_DELIVERED,
      tasking_templates: MAX_TEMPLATES,
      running_jobs: MAX_RUNNING_PER_ORGANIZATION,
    },
    jobs: { sources: MAX_SOURCES, output_pixels: MAX_OUTPUT_PIXELS },
    uploads: { files_per_session: MAX_FILES_PER_SESSION, assets_per_item: MAX_ASSETS_PER_ITEM },
  }
}

interface Shape {
  readonly maximum?: number
  readonly anyOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
}

/** The maximum of each paging field, from the schema of the operation. */
function pageFields({ input }: AnyOperation): Record<string, number> {
  const fields = (input as Shape).properties ?? {}
  const maximum = ({ maximum: own, anyOf = [] }: Shape): number | undefined =>
    own ?? anyOf.find((each) => each.maximum !== undefined)?.maximum
  return Object.fromEntries(
    PAGE_FIELDS.flatMap((name) => {
      const limit = fields[name] && maximum(fields[name])
      return limit === undefined ? [] : [[name, limit]]
    }),
  )
}

const hasAny = (fields: object): boolean => Object.keys(fields).length > 0
