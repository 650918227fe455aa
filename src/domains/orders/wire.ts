import Type from 'typebox'
import { GeoJsonFeatureCollection, GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { CreditsInput } from '#core/money-shapes.ts'
import { audOf, CURRENCY } from '#core/money.ts'
import { Choice, Closed, Described, FreeForm, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { BILLING_MODES, isIn, ORDER_GROUP_STATUSES, ORDER_STATUSES, ORDER_SUB_STATUSES, ORDER_TYPES } from '#core/vocabulary.ts'
import type { Group, VendorCharge } from '#model/orders/order-group.ts'
import { itemIdsOf, totalCreditsOf, type Order } from '#model/orders/order.ts'
import { OPEN_STATUSES } from '#model/orders/states.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { pageFields } from '#wire/page.ts'

export const OrderId = Type.String({ minLength: 1, maxLength: 100, description: 'Order ID' })
export const ProjectId = Type.String({ minLength: 1, maxLength: 100, description: 'ID of the project that receives the imagery' })
export const DisplayName = NotBlank(255, { description: 'Display name of the order' })
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50, description: 'Order tags' })
export const DataProduct = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Data product ID or name, from `glossary.collections.list`',
})
export const Params = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'Order parameters of the data product; see `orders.get_schema`',
})
/** Upper limit of the reservation. */
export const MaxCredits = Type.Optional(
  Nullable(CreditsInput(0, { description: 'Maximum price in credits; if the price is higher, the call returns 400 and reserves nothing' })),
)

const MAX_FEATURES = 100
export const FeatureCollection = Type.Unsafe<Record<string, unknown>>({
  $id: 'OrderFeatureCollection',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'FeatureCollection', description: 'GeoJSON type, always `FeatureCollection`' },
    features: {
      type: 'array',
      items: { 'x-documented-as': 'Feature' },
      minItems: 1,
      maxItems: MAX_FEATURES,
      description: 'Features with a geometry',
    },
  },
  required: ['type', 'features'],
  additionalProperties: true,
  description: 'Areas to order: GeoJSON polygons, or points, which stand for squares of 1 km × 1 km',
})

export const TaskingGroup = Closed(
  { dataProduct: DataProduct, featureCollection: FeatureCollection, params: Type.Optional(Nullable(Params)) },
  { $id: 'TaskingGroup', description: 'One data product over one set of areas' },
)
export const MAX_GROUPS = 20

/** Page parameters of orders, studies and quotations, with the default page size. */
export const Window = pageFields(20)

/** A page of results with the total number of entries. */
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

/** What the vendor bills directly to an organization that has its own account there. Our purchase prices are not shown. */
export const BilledByVendor = Nullable(
  Closed(
    {
      currency: Type.String({ description: "Vendor's currency, as an ISO 4217 code" }),
      amount: Nullable(Type.Number({ description: 'Expected amount in that currency; null if your contract with the vendor decides' })),
    },
    { $id: 'BilledByVendor', description: 'Amount that the vendor bills to the account that your organization has there' },
  ),
)

export const billedByVendor = ({ currency, cents, accountId }: Pick<VendorCharge, 'currency' | 'cents' | 'accountId'>) =>
  accountId === null ? null : { currency, amount: cents === null ? null : cents / 100 }

const CaptureRecord = Closed({
  id: Type.String({ description: 'Scene ID assigned by the vendor' }),
  host: Type.String({ description: "Host name of the scene's vendor" }),
  geometry: Described(GeoJsonGeometry, 'Ordered part of the scene'),
  acquiredAt: Nullable(At('Acquisition time; null if unknown')),
})

const GroupRecord = Closed(
  {
    id: IdOf('Order group ID'),
    status: Choice(ORDER_GROUP_STATUSES, { description: 'Group status; `part` means partly delivered, see `failureReason`' }),
    subStatus: Nullable(Choice(ORDER_SUB_STATUSES, { description: 'Tasking state; null for archive orders' })),
    host: Type.String({ description: 'Host name of the vendor' }),
    dataProduct: Type.String({ description: 'Data product name' }),
    dataProductId: Type.String({ description: 'Data product ID' }),
    captures: Nullable(Type.Array(CaptureRecord, { description: 'Ordered scenes or parts of scenes; null for tasking orders' })),
    featureCollection: Nullable(Described(GeoJsonFeatureCollection, 'Tasked areas; null for archive orders')),
    params: Described(FreeForm, 'Order parameters of the data product'),
    aoi_km2: Type.Number({ description: 'Total area in km²' }),
    credits: Credits('Price in credits, as far as known'),
    aud: Type.Number({ description: 'Price in Australian dollars' }),
    capturedCredits: Credits('Credits charged for the group'),
    billedByVendor: Described(
      BilledByVendor,
      'Amount that the vendor bills directly, in addition to the price in credits; null if the order is paid here',
    ),
    itemIds: Type.Array(Type.String(), { description: 'IDs of the delivered items' }),
    failureReason: Nullable(Type.String({ description: 'Why the group failed, was cancelled or was partly delivered; null otherwise' })),
  },
  { $id: 'OrderGroup', description: 'A part of an order that goes to one vendor' },
)

const HistoryStep = Closed({
  timestamp: At('Time of the status change'),
  status: Choice(ORDER_STATUSES, { description: 'New status' }),
  reason: Nullable(Type.String({ description: 'Reason for the change; null if none was given' })),
})

const ACCRUALS = ['provisional', 'final'] as const

export const OrderRecord = Closed(
  {
    id: IdOf('Order ID'),
    projectId: IdOf('ID of the project that receives the imagery'),
    displayName: Type.String({ description: 'Display name of the order' }),
    orderType: Choice(ORDER_TYPES, { description: '`archive` for existing scenes, `tasking` for new acquisitions' }),
    status: Choice(ORDER_STATUSES, { description: 'Order status' }),
    subStatus: Nullable(Choice(ORDER_SUB_STATUSES, { description: 'Tasking state; null for archive orders' })),
    billingMode: Choice(BILLING_MODES, { description: 'Payment method: credits, card or monthly invoice' }),
    currency: Type.Literal(CURRENCY, { description: 'Currency of all amounts, as an ISO 4217 code' }),
    totalAud: Type.Number({ description: 'Amount reserved, in Australian dollars; the estimate while a tasking order has no firm price' }),
    totalCredits: Credits('Reserved credits; 0 for tasking orders until a price is accepted'),
    estimatedCredits: Credits('Estimated price in credits when the order was placed'),
    capturedCredits: Credits('Credits charged'),
    accrual: Nullable(
      Choice(ACCRUALS, {
        description:
          'On account: `provisional` while the order is open, `final` once it has ended and capturedCredits are owed; ' +
          'null for other billing modes and until a price is agreed',
      }),
    ),
    licenseType: Type.String({ description: 'Licence type of the order' }),
    tags: Type.Array(Type.String(), { description: 'Order tags' }),
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
    groups: Type.Array(GroupRecord, { description: 'Order groups; each goes to one vendor as one order' }),
    itemIds: Type.Array(Type.String(), { description: 'IDs of the delivered items' }),
    failureReason: Nullable(Type.String({ description: 'Why the order failed, was cancelled or was partly delivered; null otherwise' })),
    history: Type.Array(HistoryStep, { description: 'Status changes, oldest first' }),
    createdBy: Nullable(IdOf('User ID of the buyer; null if not placed by a user')),
    apiKeyId: Nullable(IdOf('ID of the API key used; null if placed without one')),
    createdAt: At('Time the order was placed'),
    updatedAt: At('Time of the last change'),
    fulfilledAt: Nullable(At('Time of complete delivery; null until then')),
    cancelledAt: Nullable(At('Cancellation time; null if not cancelled')),
  },
  { $id: 'Order', description: 'An order of imagery' },
)

const groupRecord = (group: Group) => ({
  id: group.id,
  status: group.status,
  subStatus: group.subStatus,
  host: group.hostName,
  dataProduct: group.productName,
  dataProductId: group.productId,
  captures: group.captures && group.captures.map(({ vendorCents: _price, ...capture }) => capture),
  featureCollection: group.featureCollection,
  params: group.params,
  aoi_km2: round(group.areaKm2),
  credits: group.credits,
  aud: audOf(group.credits),
  capturedCredits: group.capturedCredits,
  billedByVendor: group.isBilledByVendor
    ? { currency: group.vendorCurrency!, amount: group.vendorCents === null ? null : group.vendorCents / 100 }
    : null,
  itemIds: group.itemIds,
  failureReason: group.failureReason,
})

/** Areas are rounded to a square metre: finer digits are noise. */
export const round = (km2: number): number => Math.round(km2 * 1e6) / 1e6

/** Until a price is accepted, a tasking order has only an estimate. */
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
      billedByVendor: null,
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
