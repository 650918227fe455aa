/** What Planet's APIs return, as far as we use it. Unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Nullable } from '#core/shapes.ts'

/** The most that one page of a search, or one filter of ids, has here; Planet's own maximum is not documented. */
export const MAX_PAGE_SIZE = 250

const Id = Type.String({ minLength: 1, maxLength: 200 })
const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
const Text = Type.String({ maxLength: 2_000 })
const Link = Type.String({ minLength: 1, maxLength: 8_000 })
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T', maxLength: 50 })
const Digest = (length: number) => Optional(Type.String({ pattern: `^[0-9a-fA-F]{${length}}$` }))

const Item = Type.Object({
  id: Id,
  geometry: Type.Unknown(),
  properties: Type.Object({
    item_type: Id,
    acquired: Time,
    /** From 0 to 1. */
    cloud_cover: Optional(Type.Number()),
    cloud_percent: Optional(Type.Number()),
    gsd: Optional(Type.Number()),
    satellite_id: Optional(Text),
    instrument: Optional(Text),
    provider: Optional(Text),
    sun_azimuth: Optional(Type.Number()),
    sun_elevation: Optional(Type.Number()),
    view_angle: Optional(Type.Number()),
    quality_category: Optional(Text),
    publishing_stage: Optional(Text),
    strip_id: Optional(Text),
  }),
  assets: Type.Optional(Type.Array(Text, { maxItems: 500 })),
  _permissions: Type.Optional(Type.Array(Text, { maxItems: 1_000 })),
  _links: Type.Optional(Type.Object({ thumbnail: Optional(Link) })),
})
export type Item = Static<typeof Item>

const Order = Type.Object({
  id: Id,
  name: Text,
  state: Text,
  last_message: Optional(Text),
  error_hints: Optional(Type.Array(Text, { maxItems: 1_000 })),
  products: Type.Array(Type.Object({ item_ids: Type.Array(Id, { maxItems: 1_000 }) }), { maxItems: 100 }),
  _links: Type.Object({ results: Optional(Type.Array(Type.Object({ name: Link, location: Link }), { maxItems: 20_000 })) }),
})
export type Order = Static<typeof Order>

const Manifest = Type.Object({
  files: Type.Array(
    Type.Object({
      path: Type.String({ minLength: 1, maxLength: 500 }),
      media_type: Optional(Text),
      size: Type.Integer({ minimum: 0 }),
      digests: Type.Optional(Type.Object({ md5: Digest(32), sha256: Digest(64) })),
      annotations: Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    { maxItems: 20_000 },
  ),
})
export type Manifest = Static<typeof Manifest>

const Tasking = Type.Object({
  id: Id,
  name: Text,
  status: Text,
  geometry: Type.Unknown(),
  original_geometry: Type.Optional(Type.Unknown()),
})
export type Tasking = Static<typeof Tasking>

const Capture = Type.Object({ status: Text, item_ids: Optional(Type.Array(Id, { maxItems: 1_000 })) })

export const schemas = {
  page: Compile(
    Type.Object({
      features: Type.Array(Item, { maxItems: MAX_PAGE_SIZE }),
      _links: Type.Optional(Type.Object({ _next: Optional(Link) })),
    }),
  ),
  order: Compile(Order),
  /** Without links to files. */
  orders: Compile(Type.Object({ orders: Type.Array(Type.Pick(Order, ['id', 'name']), { maxItems: 1_000 }) })),
  manifest: Compile(Manifest),
  tasking: Compile(Tasking),
  taskings: Compile(Type.Object({ results: Type.Array(Type.Pick(Tasking, ['id', 'name']), { maxItems: 1_000 }) })),
  captures: Compile(Type.Object({ results: Type.Array(Capture, { maxItems: 1_000 }), next: Optional(Link) })),
  taskingPrice: Compile(Type.Object({ estimated_quota_cost: Optional(Type.Number({ minimum: 0 })), units: Optional(Text) })),
}
