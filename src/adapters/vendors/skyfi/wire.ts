/** What SkyFi's API returns, as far as we use it. Unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Nullable } from '#core/shapes.ts'

const Id = Type.String({ minLength: 1, maxLength: 200 })
const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
const Text = Type.String({ maxLength: 2_000 })
const Count = Type.Number({ minimum: 0 })
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T', maxLength: 50 })

const Archive = Type.Object({
  archiveId: Id,
  provider: Text,
  constellation: Text,
  productType: Text,
  /** Centimetres. */
  platformResolution: Count,
  resolution: Text,
  captureTimestamp: Time,
  cloudCoveragePercent: Optional(Type.Number({ minimum: 0, maximum: 100 })),
  offNadirAngle: Optional(Type.Number()),
  /** WKT. */
  footprint: Type.String({ maxLength: 500_000 }),
  minSqKm: Count,
  maxSqKm: Count,
  priceForOneSquareKmCents: Type.Integer({ minimum: 0, maximum: 100_000_000 }),
  openData: Type.Optional(Type.Boolean()),
  deliveryTimeHours: Type.Optional(Count),
  thumbnailUrls: Optional(Type.Record(Type.String(), Type.String({ maxLength: 4_000 }))),
})
export type Archive = Static<typeof Archive>

const Order = Type.Object({
  id: Id,
  orderType: Text,
  status: Text,
  createdAt: Time,
  /** US cents. */
  orderCost: Type.Integer({ minimum: 0 }),
  aoiSqkm: Count,
  /** Of an order from the archive. */
  archiveId: Type.Optional(Id),
  /** Of a tasking order. */
  productType: Type.Optional(Text),
  metadata: Optional(Type.Record(Type.String(), Type.Unknown())),
  downloadImageUrl: Optional(Text),
  downloadCogUrl: Optional(Text),
  cogSize: Optional(Type.Integer({ minimum: 0 })),
  archive: Type.Optional(Archive),
  events: Type.Optional(Type.Array(Type.Object({ status: Text, message: Optional(Text) }))),
})
export type Order = Static<typeof Order>

/** A predicted pass of a satellite. */
const Pass = Type.Object({
  provider: Text,
  satname: Text,
  noradid: Text,
  productType: Text,
  resolution: Text,
  passDate: Time,
  offNadirAngle: Type.Number(),
  solarElevationAngle: Type.Number(),
  minSquareKms: Count,
  maxSquareKms: Count,
  /** US dollars, and the same in cents. */
  priceForOneSquareKm: Type.Number({ minimum: 0, maximum: 1_000_000 }),
  priceForOneSquareKmCents: Optional(Type.Integer({ minimum: 0, maximum: 100_000_000 })),
})
export type Pass = Static<typeof Pass>
const MAX_PASSES = 5_000

const ProviderScore = Type.Object({
  provider: Optional(Text),
  status: Optional(Text),
  opportunities: Type.Optional(
    Type.Array(Type.Object({ windowStart: Time, windowEnd: Time, satelliteId: Optional(Text), providerWindowId: Optional(Text) }), {
      maxItems: MAX_PASSES,
    }),
  ),
})
/** The score is null until there is one. */
const Feasibility = Type.Object({
  id: Id,
  validUntil: Time,
  overallScore: Nullable(
    Type.Object({ providerScore: Optional(Type.Object({ providerScores: Optional(Type.Array(ProviderScore, { maxItems: 100 })) })) }),
  ),
})
export type Feasibility = Static<typeof Feasibility>

export const schemas = {
  archive: Compile(Archive),
  page: Compile(Type.Object({ archives: Type.Array(Archive, { maxItems: 100 }), nextPage: Optional(Type.String({ maxLength: 20_000 })) })),
  order: Compile(Order),
  orders: Compile(Type.Object({ orders: Type.Array(Order, { maxItems: 100 }) })),
  passes: Compile(Type.Object({ passes: Type.Array(Pass, { maxItems: MAX_PASSES }) })),
  feasibility: Compile(Feasibility),
  whoami: Compile(
    Type.Object({
      email: Text,
      currentBudgetUsage: Type.Integer(),
      budgetAmount: Type.Integer(),
      hasValidSharedCard: Type.Boolean(),
    }),
  ),
}
