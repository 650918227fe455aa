/** `GET /v1/limits`: the limits that the specification leaves open, for anyone who wants to stay within them. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { Closed } from '#core/shapes.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const ByOperation = <T extends Type.TSchema>(value: T, description: string) => Type.Record(Type.String(), value, { description })

export const Limits = Closed(
  {
    bodies: Closed(
      {
        sign_in_bytes: Count('Maximum body size of `/auth/…` requests in bytes'),
        public_bytes: Count('Maximum body size of public operations in bytes'),
        standard_bytes: Count('Maximum body size of other operations in bytes'),
        operations: ByOperation(Type.Integer(), 'Maximum body size in bytes of operations that accept larger bodies'),
        depth: Count('Maximum nesting of objects and arrays'),
        members: Count('Maximum members of one object'),
      },
      { description: 'Limits of request bodies' },
    ),
    requests: Closed(
      {
        per_user_per_hour: Count('Requests per hour of a signed-in user; API keys have their own limits'),
        anonymous_per_minute: Count('Unauthenticated requests per minute from one IP address'),
        endpoint_tests_per_minute: Count('Calls of `event_subscriptions.test` per minute and organization'),
        share_passwords_per_minute: Count('Wrong passwords per minute and share link'),
        downloads_per_minute: Count('Downloads an organization can start per minute'),
      },
      { description: 'Rate limits' },
    ),
    expressions: Closed(
      {
        characters: Count('Maximum length of an expression in characters'),
        depth: Count('Maximum nesting of parentheses, calls, signs and powers, counting the expression itself'),
        bands: Count('Highest band number `bN`'),
      },
      { description: 'Limits of band math expressions' },
    ),
    filters: Closed(
      {
        terms: Count('Maximum operators, properties and values of a CQL2 filter, or conditions of `query`'),
        depth: Count('Maximum nesting of operators'),
        characters: Count('Maximum length of CQL2 text in characters'),
        geometries: Count('Maximum members of a geometry collection'),
        vertices: Count('Maximum vertices of all geometries in a filter'),
      },
      { description: 'Limits of search filters' },
    ),
    geometries: Closed(
      {
        vertices: Count('Maximum vertices of one geometry, including closing points'),
        analysis_zones: Count('Maximum zones of `zonal_stats` in `analytics.execute`'),
        analysis_zone_vertices: Count('Maximum vertices of all zones of `zonal_stats` in `analytics.execute`'),
        job_zones: Count('Maximum zones of the `zonal_stats` process'),
        job_zone_vertices: Count('Maximum vertices of all zones of the `zonal_stats` process'),
      },
      { description: 'Limits of geometries in requests' },
    ),
    pages: Closed(
      {
        operations: ByOperation(
          Type.Record(Type.String(), Type.Integer(), { description: 'Maximum of each field' }),
          'Maximum `limit`, `offset`, `page` and `size` of each list operation',
        ),
      },
      { description: 'Limits of paged lists' },
    ),
    connections: Closed(
      { total: Count('Maximum open connections to one process'), per_address: Count('Maximum open connections from one IP address') },
      { description: 'Limits of connections' },
    ),
    event_streams: Closed(
      {
        total: Count('Maximum open streams of one process'),
        per_organization: Count('Maximum open streams per organization'),
        per_user: Count('Maximum open streams per user'),
        per_address: Count('Maximum open streams from one IP address'),
      },
      { description: 'Limits of `GET /v1/events` streams' },
    ),
    organizations: Closed(
      {
        alert_rules: Count('Maximum alert rules'),
        webhooks: Count('Maximum event subscriptions'),
        pending_deliveries: Count('Maximum queued webhook deliveries; further events wait in the backlog'),
        listed_deliveries: Count('Maximum listed successful webhook deliveries'),
        tasking_templates: Count('Maximum tasking templates'),
        running_jobs: Count('Maximum concurrent processing jobs; further jobs wait'),
      },
      { description: 'Limits per organization' },
    ),
    jobs: Closed(
      {
        sources: Count('Maximum rasters read by one job'),
        output_pixels: Count('Maximum pixels written by one job'),
      },
      { description: 'Limits of processing jobs' },
    ),
    uploads: Closed(
      { files_per_session: Count('Maximum files per upload session'), assets_per_item: Count('Maximum assets per item') },
      { description: 'Limits of uploads and items' },
    ),
  },
  { $id: 'Limits', description: 'Limits of the service' },
)
export type Limits = Static<typeof Limits>

export function registerLimits(app: FastifyInstance, { limits }: { limits: Limits }): void {
  const document = publicDocument(limits)
  app.get('/v1/limits', async (request, reply) => sendDocument(request, reply, document))
}

export interface PublicDocument {
  body: Buffer
  etag: string
}

/** Public, and constant while the process runs. */
export function publicDocument(value: object): PublicDocument {
  const body = Buffer.from(JSON.stringify(value))
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

export function sendDocument(request: FastifyRequest, reply: FastifyReply, { body, etag }: PublicDocument): FastifyReply {
  reply.headers({ ETag: etag, 'Cache-Control': 'no-cache' })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}
