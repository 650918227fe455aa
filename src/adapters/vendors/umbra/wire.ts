/** What Umbra's API returns, as far as we use it. Unknown fields are ignored. */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { FreeForm, Nullable } from '#core/shapes.ts'

const Id = Type.String({ minLength: 1, maxLength: 200 })
const Text = Type.String({ maxLength: 2_000 })
const Link = Type.String({ maxLength: 8_000 })
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T', maxLength: 50 })
const Optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))

/** Collects of one task, and tasks of one reference: more than Umbra makes of an order. */
export const MAX_COLLECTS = 100
export const MAX_TASKS = 20
/** Items, and files of one item, that one order delivers. */
export const MAX_ITEMS = 100
const MAX_ASSETS = 100
const MAX_PASSES = 5_000
const MAX_AREAS = 10_000

const Task = Type.Object({
  id: Id,
  properties: Type.Object({
    status: Text,
    taskName: Text,
    userOrderId: Optional(Text),
    taskType: Optional(Text),
    collectIds: Optional(Type.Array(Id, { maxItems: MAX_COLLECTS })),
  }),
})
export type Task = Static<typeof Task>

const Collect = Type.Object({ id: Id, properties: Type.Object({ status: Text }) })
export type Collect = Static<typeof Collect>

/** A success names the task; a failure only has a message. */
const ArchiveResult = Type.Object({ collectId: Id, taskId: Type.Optional(Id), userOrderId: Optional(Text), message: Optional(Text) })

const Pass = Type.Object({
  windowStartAt: Time,
  windowEndAt: Time,
  grazingAngleStartDegrees: Type.Number(),
  grazingAngleEndDegrees: Type.Number(),
  satelliteId: Type.Optional(Text),
})
export type Pass = Static<typeof Pass>

const Asset = Type.Object({
  href: Link,
  type: Optional(Text),
  title: Optional(Text),
  alternate: Optional(Type.Record(Type.String(), Type.Object({ href: Type.Optional(Link) }))),
  'file:size': Optional(Type.Integer({ minimum: 0 })),
  'file:checksum': Optional(Text),
})
export type Asset = Static<typeof Asset>

const Item = Type.Object({
  id: Id,
  properties: FreeForm,
  assets: Type.Record(Type.String({ maxLength: 300 }), Asset, { maxProperties: MAX_ASSETS }),
})
export type Item = Static<typeof Item>

export const schemas = {
  task: Compile(Task),
  tasks: Compile(Type.Object({ features: Type.Array(Task, { maxItems: MAX_TASKS }) })),
  collects: Compile(Type.Object({ features: Type.Array(Collect, { maxItems: MAX_COLLECTS }) })),
  archiveOrder: Compile(Type.Object({ results: Type.Array(ArchiveResult, { maxItems: 50 }) })),
  feasibility: Compile(Type.Object({ id: Id, status: Text, opportunities: Optional(Type.Array(Pass, { maxItems: MAX_PASSES })) })),
  areas: Compile(
    Type.Object({
      features: Type.Array(Type.Object({ geometry: Nullable(Type.Object({ type: Text, coordinates: Type.Optional(Type.Unknown()) })) }), {
        maxItems: MAX_AREAS,
      }),
    }),
  ),
  item: Compile(Item),
  items: Compile(Type.Object({ features: Type.Array(Item, { maxItems: MAX_ITEMS }) })),
}
