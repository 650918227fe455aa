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
        sign_in_bytes: Count('Bytes of a body sent to `/auth/…`'),
        public_bytes: Count('Bytes of a body sent to an operation that needs no credential'),
        standard_bytes: Count('Bytes of a body sent to any other operation that is not in `operations`'),
        operations: ByOperation(Type.Integer(), 'Operations that accept larger bodies, with the number of bytes'),
        depth: Count('Levels of nested objects and arrays in a body'),
        members: Count('Members of one object in a body'),
      },
      { description: 'Request bodies' },
    ),
    requests: Closed(
      {
        per_user_per_hour: Count('Requests of a signed-in user; API keys have limits of their own'),
        anonymous_per_minute: Count('Requests without a credential from one address'),
        endpoint_tests_per_minute: Count('Calls of `event_subscriptions.test` per organization'),
        share_passwords_per_minute: Count('Wrong passwords for one share link'),
        downloads_per_minute: Count('Downloads that an organization can start'),
      },
      { description: 'Rates' },
    ),
    expressions: Closed(
      {
        characters: Count('Characters of a band math expression'),
        depth: Count('Levels of nested parentheses, calls, signs and powers; the expression itself is the first'),
        bands: Count('The largest N of `bN`'),
      },
      { description: 'Band math' },
    ),
    filters: Closed(
      {
        terms: Count('Operators, properties and values of a CQL2 filter; conditions of `query`'),
        depth: Count('Levels of nested operators'),
        characters: Count('Characters of a filter in CQL2 text'),
        geometries: Count('Members of a geometry collection in a filter'),
        vertices: Count('Vertices of all geometries of a filter together'),
      },
      { description: 'Filters of searches' },
    ),
    geometries: Closed(
      {
        vertices: Count('Vertices of one geometry, closing points included'),
        analysis_zones: Count('Zones of `analytics.execute` with `zonal_stats`'),
        analysis_zone_vertices: Count('Vertices of all its zones together'),
        job_zones: Count('Zones of the process `zonal_stats`'),
        job_zone_vertices: Count('Vertices of all its zones together'),
      },
      { description: 'Geometries in an input' },
    ),
    pages: Closed(
      {
        operations: ByOperation(
          Type.Record(Type.String(), Type.Integer(), { description: 'The maximum of each field' }),
          'Lists, with the maximum of `limit`, `offset`, `page` and `size`',
        ),
      },
      { description: 'Pages of lists' },
    ),
    connections: Closed(
      { total: Count('Open connections to one process'), per_address: Count('Those of them from one address') },
      { description: 'Connections' },
    ),
    event_streams: Closed(
      {
        total: Count('Open streams of one process'),
        per_organization: Count('Of one organization'),
        per_user: Count('Of one user'),
        per_address: Count('From one address'),
      },
      { description: 'Streams of `GET /v1/events`' },
    ),
    organizations: Closed(
      {
        alert_rules: Count('Alert rules'),
        webhooks: Count('Event subscriptions'),
        pending_deliveries: Count('Webhook deliveries in the queue; those of further events follow in order'),
        listed_deliveries: Count('Successful webhook deliveries that are listed'),
        tasking_templates: Count('Templates of tasking orders'),
        running_jobs: Count('Processing jobs that run at once; further ones wait'),
      },
      { description: 'Per organization' },
    ),
    jobs: Closed(
      {
        sources: Count('Rasters that one job reads'),
        output_pixels: Count('Pixels that one job writes'),
      },
      { description: 'Processing jobs' },
    ),
    uploads: Closed(
      { files_per_session: Count('Files of one upload session'), assets_per_item: Count('Assets of one item') },
      { description: 'Uploads and items' },
    ),
  },
  { $id: 'Limits' },
)
export type Limits = Static<typeof Limits>

export function registerLimits(app: FastifyInstance, limits: Limits): void {
  const document = publicDocument(limits)
  app.get('/v1/limits', async (request, reply) => sendDocument(request, reply, document))
}

export interface PublicDocument {
  body: Buffer
  etag: string
}

/** What everyone may read and nobody changes while the process runs. */
export function publicDocument(value: object): PublicDocument {
  const body = Buffer.from(JSON.stringify(value))
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

export function sendDocument(request: FastifyRequest, reply: FastifyReply, { body, etag }: PublicDocument): FastifyReply {
  reply.headers({ ETag: etag, 'Cache-Control': 'no-cache' })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}
