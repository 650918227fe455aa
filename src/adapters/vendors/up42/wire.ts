/** What UP42's API returns, as far as we use it. Unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { FreeForm, Nullable } from '#core/shapes.ts'

const Id = Type.String({ minLength: 1, maxLength: 200 })
const Text = Type.String({ maxLength: 5_000 })
const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
const Credits = Type.Number({ minimum: 0, maximum: 1e12 })
const Index = Type.Integer({ minimum: 0 })
const Geometry = Type.Object({ type: Type.String(), coordinates: Type.Array(Type.Unknown()) })
const pageOf = <T extends TSchema>(content: T) =>
  Type.Object({ content: Type.Array(content, { maxItems: 1_000 }), totalPages: Type.Integer({ minimum: 0 }) })

const Collection = Type.Object({
  name: Id,
  type: Type.String({ maxLength: 100 }),
  providers: Type.Array(Type.Object({ name: Id, roles: Optional(Type.Array(Type.String())) }), { maxItems: 100 }),
  dataProducts: Type.Array(Type.Object({ id: Optional(Id), title: Optional(Text), eulaId: Optional(Id) }), { maxItems: 200 }),
  metadata: Optional(Type.Object({ resolutionClass: Optional(Text) })),
})
export type Collection = Static<typeof Collection>

const Scene = Type.Object({
  geometry: Nullable(Geometry),
  bbox: Optional(Type.Array(Type.Number(), { minItems: 4, maxItems: 6 })),
  properties: Type.Object({
    id: Type.String({ minLength: 1, maxLength: 256 }),
    collection: Id,
    constellation: Optional(Text),
    producer: Optional(Text),
    datetime: Optional(Text),
    start_datetime: Optional(Text),
    cloudCoverage: Optional(Type.Number()),
    resolution: Optional(Type.Number()),
    deliveryTime: Optional(Text),
  }),
})
export type FoundScene = Static<typeof Scene>

const Failure = Type.Object({ index: Index, message: Optional(Text), details: Optional(Type.Unknown()) })
export type Failure = Static<typeof Failure>

const Order = Type.Object({
  id: Id,
  displayName: Optional(Text),
  status: Type.String({ maxLength: 200 }),
  createdAt: Optional(Text),
  tags: Optional(Type.Array(Text, { maxItems: 1_000 })),
  type: Type.String({ maxLength: 100 }),
  orderDetails: Optional(Type.Object({ imageId: Optional(Text), subStatus: Optional(Text) })),
})
export type Order = Static<typeof Order>

const StoredAsset = Type.Object({
  id: Id,
  orderId: Optional(Text),
  order: Optional(Type.Object({ id: Optional(Text) })),
  geospatialMetadataExtractionStatus: Optional(Text),
})

const ItemAsset = Type.Object({
  href: Type.String({ maxLength: 4_000 }),
  type: Optional(Text),
  roles: Optional(Type.Array(Type.String())),
  'eo:bands': Optional(Type.Array(Type.Object({ name: Optional(Text), common_name: Optional(Text) }), { maxItems: 500 })),
  'file:size': Optional(Type.Integer({ minimum: 0 })),
  'file:checksum': Optional(Text),
})
export type ItemAsset = Static<typeof ItemAsset>

const Item = Type.Object({ id: Id, properties: FreeForm, assets: Type.Record(Type.String(), ItemAsset) })
export type Item = Static<typeof Item>

const Study = Type.Object({
  id: Id,
  orderId: Id,
  decision: Type.String({ maxLength: 100 }),
  options: Optional(Type.Array(Type.Object({ id: Id, description: Optional(Text) }), { maxItems: 100 })),
  decisionOption: Optional(Type.Object({ id: Id })),
})

const Quotation = Type.Object({ id: Id, orderId: Id, creditsPrice: Credits, decision: Type.String({ maxLength: 100 }) })
export type Quotation = Static<typeof Quotation>

const Links = Type.Optional(Type.Array(Type.Object({ rel: Type.String(), href: Type.String({ maxLength: 8_000 }) })))

export const schemas = {
  user: Compile(Type.Object({ sub: Id, email: Optional(Text) })),
  collections: Compile(pageOf(Collection)),
  eula: Compile(Type.Object({ id: Id, title: Optional(Text), currentDocumentUrl: Optional(Text), isAccepted: Type.Boolean() })),
  orderForm: Compile(Type.Object({ properties: Type.Optional(FreeForm), required: Type.Optional(Type.Array(Type.String())) })),
  scenes: Compile(Type.Object({ features: Type.Array(Scene, { maxItems: 1_000 }), links: Links })),
  estimate: Compile(
    Type.Object({
      results: Type.Array(Type.Object({ index: Index, credits: Credits }), { maxItems: 100 }),
      errors: Type.Array(Failure, { maxItems: 100 }),
    }),
  ),
  placed: Compile(
    Type.Object({
      results: Type.Array(Type.Object({ index: Index, id: Id }), { maxItems: 100 }),
      errors: Type.Array(Failure, { maxItems: 100 }),
    }),
  ),
  order: Compile(Order),
  orders: Compile(pageOf(Order)),
  cancelled: Compile(Type.Object({ orderId: Id, status: Text })),
  assets: Compile(pageOf(StoredAsset)),
  items: Compile(Type.Object({ features: Type.Array(Item, { maxItems: 1_000 }), links: Links })),
  link: Compile(Type.Object({ url: Type.String({ pattern: '^https?://', maxLength: 8_000 }) })),
  studies: Compile(pageOf(Study)),
  study: Compile(Study),
  quotations: Compile(pageOf(Quotation)),
  quotation: Compile(Quotation),
}
