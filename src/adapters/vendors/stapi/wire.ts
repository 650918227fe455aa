/** What a STAPI server returns, as far as we use it. Unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Nullable } from '#core/shapes.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Host, HostRequest } from '#adapters/vendors/host.ts'

const Id = Type.String({ minLength: 1, maxLength: 200 })
const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
const Text = Type.String({ maxLength: 4_000 })
const Interval = Type.String({ pattern: '^[^/]+/[^/]+$', maxLength: 100 })
const Geometry = Type.Object({ type: Type.String({ maxLength: 50 }), coordinates: Type.Optional(Type.Array(Type.Unknown())) })

const Link = Type.Object({
  rel: Type.String({ maxLength: 200 }),
  href: Text,
  type: Optional(Text),
  method: Optional(Type.String({ maxLength: 10 })),
  body: Type.Optional(Type.Unknown()),
})
export type Link = Static<typeof Link>
const Links = Type.Optional(Type.Array(Link, { maxItems: 1_000 }))

const Status = Type.Object({
  status_code: Type.String({ maxLength: 200 }),
  reason_text: Optional(Text),
  reason_code: Optional(Text),
  links: Links,
})

const Order = Type.Object({
  id: Id,
  geometry: Geometry,
  properties: Type.Object({
    product_id: Id,
    created: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T', maxLength: 50 }),
    status: Status,
    search_parameters: Type.Object({ datetime: Interval }),
  }),
  links: Links,
})
export type Order = Static<typeof Order>

const Pass = Type.Object({
  properties: Type.Object({
    datetime: Interval,
    platform: Optional(Text),
    'view:off_nadir': Optional(Type.Number()),
    'view:sun_elevation': Optional(Type.Number()),
  }),
})
export type Pass = Static<typeof Pass>

const Asset = Type.Object({
  href: Text,
  type: Optional(Text),
  roles: Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 })),
  bands: Type.Optional(Type.Unknown()),
  'eo:bands': Type.Optional(Type.Unknown()),
  'file:size': Optional(Type.Integer({ minimum: 0 })),
  'file:checksum': Optional(Type.String({ maxLength: 300 })),
})
export type Asset = Static<typeof Asset>

const Item = Type.Object({
  id: Id,
  properties: Type.Record(Type.String(), Type.Unknown()),
  assets: Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Asset, { maxProperties: 200 }),
})
export type Item = Static<typeof Item>

/** Of one page: more than the limit that servers have. */
const MAX_ENTRIES = 1_000
const page = <T extends TSchema>(entry: T) => Type.Object({ features: Type.Array(entry, { maxItems: MAX_ENTRIES }), links: Links })

export const schemas = {
  product: Compile(Type.Object({ id: Id, conformsTo: Type.Optional(Type.Array(Text, { maxItems: 200 })) })),
  products: Compile(Type.Object({ products: Type.Array(Type.Object({ id: Id }), { maxItems: MAX_ENTRIES }), links: Links })),
  order: Compile(Order),
  orders: Compile(page(Order)),
  passes: Compile(page(Pass)),
  /** An asynchronous search. */
  search: Compile(Type.Object({ id: Id, status: Status, links: Links })),
  item: Compile(Item),
  items: Compile(page(Item)),
}

/** A validated response; null for 404, undefined for an empty one. */
export async function ask<T extends TSchema>(
  host: Host,
  schema: Validator<Record<never, never>, T>,
  request: HostRequest & CallOptions,
  what: string,
): Promise<Static<T> | null | undefined> {
  const response = await host.json(request)
  if (response === null || response === undefined) return response
  if (!schema.Check(response)) throw new VendorError('invalid-response', host.name, `${host.name} returned an invalid ${what}`)
  return response as Static<T>
}

/** The URL of a link, which can be relative. Only the server itself is sent requests and the credential. */
export function ownUrl(host: Host, href: string): string {
  const url = URL.parse(href, `${host.url}/`)
  if (url && url.origin === new URL(host.url).origin) return url.href
  throw new VendorError('invalid-response', host.name, `${host.name} returned a link to another host`)
}

export const linkOf = (links: readonly Link[] | undefined, rel: string): Link | null => links?.find((link) => link.rel === rel) ?? null
