import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { audOf, CURRENCY } from '#core/money.ts'
import { Choice, Closed, FreeForm, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { BILLING_MODES, isIn, ORDER_GROUP_STATUSES, ORDER_STATUSES, ORDER_SUB_STATUSES, ORDER_TYPES } from '#core/vocabulary.ts'
import type { Group } from '#model/orders/order-group.ts'
import { itemIdsOf, totalCreditsOf, type Order } from '#model/orders/order.ts'
import { OPEN_STATUSES } from '#model/orders/states.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { pageFields } from '#wire/page.ts'

export const OrderId = Type.String({ minLength: 1, maxLength: 100, description: 'Id of the order' })
export const ProjectId = Type.String({ minLength: 1, maxLength: 100, description: 'Id of the project into which the imagery is delivered' })
export const DisplayName = NotBlank(255, { description: 'What people call the order' })
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50, description: 'Words to find the order by' })
export const DataProduct = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Id or name of a data product, from glossary.collections.list',
})
export const Params = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'What the product asks for; orders.get_schema has its schema',
})
/** A ceiling for what may be reserved. */
export const MaxCredits = Type.Optional(
  Nullable(
    CreditsInput(0, { description: 'The most the order can cost; if the price is higher, the call returns 400 and reserves nothing' }),
  ),
)

const MAX_FEATURES = 100
export const FeatureCollection = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  properties: {
    type: { const: 'FeatureCollection', description: 'As GeoJSON has it' },
    features: { type: 'array', minItems: 1, maxItems: MAX_FEATURES, description: 'Each with a geometry' },
  },
  required: ['type', 'features'],
  additionalProperties: true,
  description: 'GeoJSON: polygons, or points, which stand for squares of 1 km a side',
})

export const TaskingGroup = Closed(
  { dataProduct: DataProduct, featureCollection: FeatureCollection, params: Type.Optional(Nullable(Params)) },
  { description: 'One product over one set of areas' },
)
export const MAX_GROUPS = 20

/** How many entries a page of orders, studies or quotations has unless more or fewer are asked for. */
export const Window = pageFields(20)

/** One page as the database gave it, of so many entries in all. */
export const windowOf = <T>(content: T[], { page, size }: { page: number; size: number }, total: number) => ({
  content,
  page,
  size,
  totalElements: total,
  totalPages: Math.ceil(total / size),
})

const Credits = (description: string) => Type.Integer({ description })
export const At = (description: string) => Type.With(Timestamp, { description })
export const IdOf = (description: string) => Type.With(Uuid, { description })

const CaptureRecord = Closed({
  id: Type.String({ description: 'The scene, as its host calls it' }),
  host: Type.String({ description: 'The host that has it' }),
  geometry: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'The part of the scene that is bought' }),
  acquiredAt: Nullable(At('When it was taken, where the vendor says so')),
})

const GroupRecord = Closed(
  {
    id: IdOf('Id of the group'),
    status: Choice(ORDER_GROUP_STATUSES, { description: 'part: delivered, but not all of it; failureReason tells what is missing' }),
    subStatus: Nullable(Choice(ORDER_SUB_STATUSES, { description: 'Of tasking: how far the two sides have agreed' })),
    host: Type.String({ description: 'The vendor that it goes to' }),
    dataProduct: Type.String({ description: 'Name of the data product' }),
    dataProductId: Type.String({ description: 'Id of the data product' }),
    captures: Nullable(Type.Array(CaptureRecord, { description: 'Scenes of the archive, or parts of them; null for tasking' })),
    featureCollection: Nullable(Type.With(FreeForm, { description: 'GeoJSON of the places that are tasked; null for the archive' })),
    params: Type.With(FreeForm, { description: 'What the product was asked for, as orders.get_schema describes it' }),
    aoi_km2: Type.Number({ description: 'Area of all its parts together' }),
    credits: Credits('Its price as far as it is known'),
    aud: Type.Number({ description: 'The same in Australian dollars' }),
    capturedCredits: Credits('What was paid for it'),
    itemIds: Type.Array(Type.String(), { description: 'Items that were delivered' }),
    failureReason: Nullable(Type.String({ description: 'Why it failed, was given up, or came in part' })),
  },
  { $id: 'OrderGroup' },
)

const HistoryStep = Closed({
  timestamp: At('Since when it was so'),
  status: Choice(ORDER_STATUSES, { description: 'The state that it came into' }),
  reason: Nullable(Type.String({ description: 'Why, where somebody said so' })),
})

const ACCRUALS = ['provisional', 'final'] as const

export const OrderRecord = Closed(
  {
    id: IdOf('Id of the order'),
    projectId: IdOf('The project into which the imagery is delivered'),
    displayName: Type.String({ description: 'What people call the order' }),
    orderType: Choice(ORDER_TYPES, { description: 'archive: scenes that exist; tasking: images that are yet to be taken' }),
    status: Choice(ORDER_STATUSES, { description: 'Where it stands; history tells since when' }),
    subStatus: Nullable(Choice(ORDER_SUB_STATUSES, { description: 'Of tasking: how far the two sides have agreed' })),
    billingMode: Choice(BILLING_MODES, { description: 'How it is paid: from credits, by card, or on account' }),
    currency: Type.Literal(CURRENCY, { description: 'Of every amount of money here' }),
    totalAud: Type.Number({ description: 'Amount reserved, in Australian dollars; the estimate while a tasking order has no firm price' }),
    totalCredits: Credits('What was reserved; 0 for tasking until a price is accepted'),
    estimatedCredits: Credits('The price that was estimated when the order was placed'),
    capturedCredits: Credits('What was paid in the end'),
    accrual: Nullable(
      Choice(ACCRUALS, {
        description:
          'On account: provisional while totalCredits are owed for what is to come, final when capturedCredits are owed for what came. ' +
          'Null for other billing modes, and until something is agreed on',
      }),
    ),
    licenseType: Type.String({ description: 'The licence type that it was ordered under' }),
    tags: Type.Array(Type.String(), { description: 'Words to find the order by' }),
    simulated: Type.Boolean({ description: 'The imagery is invented: a vendor of the sandbox delivers it' }),
    groups: Type.Array(GroupRecord, { description: 'Its parts, each of which goes to one vendor as one order' }),
    itemIds: Type.Array(Type.String(), { description: 'Items that were delivered' }),
    failureReason: Nullable(Type.String({ description: 'Why it failed, was cancelled, or came in part' })),
    history: Type.Array(HistoryStep, { description: 'Each state that the order was in, oldest first' }),
    createdBy: Nullable(IdOf('Who placed it')),
    apiKeyId: Nullable(IdOf('The API key that it was placed with')),
    createdAt: At('When it was placed'),
    updatedAt: At('When it last changed'),
    fulfilledAt: Nullable(At('When all that was to come had come')),
    cancelledAt: Nullable(At('When it was cancelled')),
  },
  { $id: 'Order' },
)

const groupRecord = (group: Group) => ({
  id: group.id,
  status: group.status,
  subStatus: group.subStatus,
  host: group.hostName,
  dataProduct: group.productName,
  dataProductId: group.productId,
  captures: group.captures,
  featureCollection: group.featureCollection,
  params: group.params,
  aoi_km2: round(group.areaKm2),
  credits: group.credits,
  aud: audOf(group.credits),
  capturedCredits: group.capturedCredits,
  itemIds: group.itemIds,
  failureReason: group.failureReason,
})

/** Areas are shown to a square metre or so: finer digits are noise. */
export const round = (km2: number): number => Math.round(km2 * 1e6) / 1e6

/** A tasking order costs what is estimated until a price of it is accepted. */
const hasFirmPrice = ({ orderType, status }: Order, totalCredits: number): boolean =>
  orderType !== 'tasking' || status !== 'pending' || totalCredits > 0

function accrualOf({ billingMode, status }: Order, totalCredits: number): (typeof ACCRUALS)[number] | null {
  if (billingMode !== 'enterprise' || totalCredits === 0) return null
  return isIn(OPEN_STATUSES, status) ? 'provisional' : 'final'
}

export function toRecord(order: Order) {
  const totalCredits = totalCreditsOf(order)
  return {
    id: order.id,
    projectId: order.projectId,
    displayName: order.displayName,
    orderType: order.orderType,
    status: order.status,
    subStatus: order.subStatus,
    billingMode: order.billingMode,
    currency: CURRENCY as typeof CURRENCY,
    totalAud: audOf(hasFirmPrice(order, totalCredits) ? totalCredits : order.estimatedCredits),
    totalCredits,
    estimatedCredits: order.estimatedCredits,
    capturedCredits: order.capturedCredits,
    accrual: accrualOf(order, totalCredits),
    licenseType: order.licenseType,
    tags: order.tags,
    simulated: order.simulated,
    groups: order.groups.map(groupRecord),
    itemIds: itemIdsOf(order),
    failureReason: order.failureReason,
    history: order.history,
    createdBy: order.createdBy,
    apiKeyId: order.apiKeyId,
    createdAt: order.createdAt.toISOString(),
    updatedAt: order.updatedAt.toISOString(),
    fulfilledAt: order.fulfilledAt?.toISOString() ?? null,
    cancelledAt: order.cancelledAt?.toISOString() ?? null,
  }
}

// For the reference.
export const EXAMPLE_ORDER_ID = '0199f2d8-0000-7000-8000-000000000001'
export const EXAMPLE_GROUP_ID = '0199f2d8-0000-7000-8000-000000000002'
const EXAMPLE_AREA = {
  type: 'Polygon' as const,
  coordinates: [
    [
      [147.3, -42.9],
      [147.32, -42.9],
      [147.32, -42.88],
      [147.3, -42.88],
      [147.3, -42.9],
    ],
  ],
}
export const EXAMPLE_CAPTURE = { id: 'sandbox-vhr_20260219_r818c4834', geometry: EXAMPLE_AREA, host: 'sandbox-vhr' }
export const EXAMPLE_FEATURES = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: EXAMPLE_AREA }] }
export const EXAMPLE_ORDER = {
  id: EXAMPLE_ORDER_ID,
  projectId: EXAMPLE_IDS.project,
  displayName: 'Hobart, February',
  orderType: 'archive' as const,
  status: 'processing' as const,
  subStatus: null,
  billingMode: 'credit' as const,
  currency: CURRENCY as typeof CURRENCY,
  totalAud: 98.4,
  totalCredits: 9_840,
  estimatedCredits: 9_840,
  capturedCredits: 0,
  accrual: null,
  licenseType: 'standard',
  tags: [],
  simulated: true,
  groups: [
    {
      id: EXAMPLE_GROUP_ID,
      status: 'waiting' as const,
      subStatus: null,
      host: 'sandbox-vhr',
      dataProduct: 'sandbox-vhr-archive',
      dataProductId: '0199f2d9-0000-7000-8000-000000000001',
      captures: [{ ...EXAMPLE_CAPTURE, acquiredAt: '2026-02-14T00:12:31.000Z' }],
      featureCollection: null,
      params: {},
      aoi_km2: 3.625,
      credits: 9_840,
      aud: 98.4,
      capturedCredits: 0,
      itemIds: [],
      failureReason: null,
    },
  ],
  itemIds: [],
  failureReason: null,
  history: [{ timestamp: EXAMPLE_AT, status: 'processing' as const, reason: null }],
  createdBy: EXAMPLE_IDS.user,
  apiKeyId: null,
  createdAt: EXAMPLE_AT,
  updatedAt: EXAMPLE_AT,
  fulfilledAt: null,
  cancelledAt: null,
}
export const EXAMPLE_TASKING = {
  ...EXAMPLE_ORDER,
  orderType: 'tasking' as const,
  status: 'pending' as const,
  subStatus: 'awaiting_feasibility' as const,
  totalAud: 0,
  totalCredits: 0,
  history: [{ timestamp: EXAMPLE_AT, status: 'pending' as const, reason: null }],
  groups: [
    {
      ...EXAMPLE_ORDER.groups[0]!,
      status: 'deciding' as const,
      subStatus: 'awaiting_feasibility' as const,
      dataProduct: 'sandbox-vhr-tasking',
      captures: null,
      featureCollection: EXAMPLE_FEATURES,
    },
  ],
}
