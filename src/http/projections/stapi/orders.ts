/** Orders and satellite passes as STAPI states them. */
import type { OrderStatus } from '#core/vocabulary.ts'
import { GEOJSON_TYPE, JSON_TYPE, LIMITS, STAPI_VERSION, type Json, type StapiLink } from './documents.ts'
import type { Search } from './input.ts'

interface GroupDocument {
  dataProduct: string
  params: Json
  featureCollection: { features: { geometry: Json }[] } | null
}

/** From `orders.get` and `orders.list`. */
export interface OrderDocument {
  id: string
  projectId: string
  displayName: string
  orderType: string
  status: OrderStatus
  subStatus: string | null
  totalCredits: number
  estimatedCredits: number
  licenseType: string
  groups: GroupDocument[]
  itemIds: string[]
  failureReason: string | null
  history: { timestamp: string; status: OrderStatus; reason: string | null }[]
  createdAt: string
  updatedAt: string
}

/** From `orders.tasking.feasibility_studies.list` and `orders.tasking.quotations.list`. */
export interface StudyDocument {
  id: string
  options: { id: string; description: string; credits: number }[]
}
export interface QuotationDocument {
  id: string
  creditsPrice: number
}

/** From `orders.tasking.opportunities_list`. */
export interface PassDocument {
  satellite: string | null
  start: string
  end: string
  offNadirDeg: number | null
  sunElevationDeg: number | null
}

/** `scheduled` can no longer be cancelled; `rejected` ended before anything was acquired, for the stated reason. */
const CODES: Readonly<Record<OrderStatus, string>> = {
  pending: 'received',
  processing: 'accepted',
  awaiting_data: 'scheduled',
  fulfilled: 'completed',
  failed: 'failed',
  cancelled: 'user_cancelled',
}

const DECISIONS: Readonly<Record<string, string>> = {
  feasibility_ready: 'Accept one of the options that the vendor offers',
  quotation_ready: 'Accept or reject the price that the vendor quotes',
}

/** More items are found by the link to the search. */
const MAX_ITEM_LINKS = 100

/** Whether the order waits for the customer. */
export const isUndecided = ({ status, subStatus }: OrderDocument): boolean =>
  status === 'pending' && DECISIONS[subStatus ?? ''] !== undefined

/** All statuses, oldest first: the last one is the current one, and has the links. */
export function statusesOf(order: OrderDocument, baseUrl: string, decisions: readonly StapiLink[] = []): Json[] {
  const past = order.history.map(({ timestamp, status, reason }) => ({
    timestamp,
    status_code: status === 'cancelled' && reason !== null ? 'rejected' : CODES[status],
    ...(reason === null ? {} : { reason_text: reason }),
    links: [] as StapiLink[],
  }))
  if (isUndecided(order))
    return [
      ...past,
      {
        timestamp: order.updatedAt,
        status_code: 'reserved',
        reason_code: order.subStatus,
        reason_text: DECISIONS[order.subStatus!]!,
        links: [...decisions],
      },
    ]
  const current = past.at(-1)!
  const isPart = order.status === 'fulfilled' && order.failureReason !== null
  return [
    ...past.slice(0, -1),
    {
      ...current,
      ...(isPart ? { reason_code: 'partial_delivery', reason_text: order.failureReason } : {}),
      links: order.status === 'fulfilled' ? deliveryLinks(order, baseUrl) : [],
    },
  ]
}

function deliveryLinks({ id, itemIds }: OrderDocument, baseUrl: string): StapiLink[] {
  const filter = new URLSearchParams({ 'filter-lang': 'cql2-text', filter: `"svc:order_id" = '${id}'` })
  return [
    { rel: 'items', href: `${baseUrl}/stac/search?${filter}`, type: GEOJSON_TYPE, title: 'Delivered items' },
    ...itemIds.slice(0, MAX_ITEM_LINKS).map((itemId) => ({
      rel: 'item',
      href: `${baseUrl}/stac/items/${itemId}`,
      type: GEOJSON_TYPE,
      title: 'Delivered item',
    })),
  ]
}

const call = (rel: string, baseUrl: string, operation: string, title: string, body: Json): StapiLink => ({
  rel,
  href: `${baseUrl}/v1/op/${operation}`,
  type: JSON_TYPE,
  title,
  method: 'POST',
  body,
})

export const studyLinks = (studies: readonly StudyDocument[], baseUrl: string): StapiLink[] =>
  studies.flatMap(({ id, options }) =>
    options.map((option) =>
      call('accept-option', baseUrl, 'orders.tasking.feasibility_decide', `${option.description}, for ${option.credits} credits`, {
        study_id: id,
        acceptedOptionId: option.id,
        maxCredits: option.credits,
      }),
    ),
  )

export const quotationLinks = (quotations: readonly QuotationDocument[], baseUrl: string): StapiLink[] =>
  quotations.flatMap(({ id, creditsPrice }) => [
    call('accept-quotation', baseUrl, 'orders.tasking.quotation_decide', `Accept ${creditsPrice} credits`, {
      quotation_id: id,
      decision: 'ACCEPTED',
      maxCredits: creditsPrice,
    }),
    call('reject-quotation', baseUrl, 'orders.tasking.quotation_decide', 'Reject the price', { quotation_id: id, decision: 'REJECTED' }),
  ])

/** As STAPI has no cancellation, the link leads to our operation. */
const cancelLinks = ({ id, status }: OrderDocument, baseUrl: string): StapiLink[] =>
  status === 'pending' || status === 'processing' ? [call('cancel', baseUrl, 'orders.cancel', 'Cancel this order', { id })] : []

/**
 * An order of several groups, which STAPI does not know, is shown with the product and the window of the first one, and with the
 * geometries of all.
 */
export function orderOf(order: OrderDocument, baseUrl: string, decisions: readonly StapiLink[] = []): Json {
  const [{ dataProduct, params }] = order.groups as [GroupDocument]
  const geometries = order.groups.flatMap(({ featureCollection }) => featureCollection?.features.map(({ geometry }) => geometry) ?? [])
  const geometry = geometries.length === 1 ? geometries[0] : { type: 'GeometryCollection', geometries }
  const datetime = intervalOf(params) ?? `${order.createdAt}/${order.updatedAt}`
  const filter = filterOf(params)
  const url = `${baseUrl}/stapi/orders/${order.id}`
  return {
    type: 'Feature',
    stapi_type: 'Order',
    stapi_version: STAPI_VERSION,
    id: order.id,
    geometry,
    properties: {
      product_id: dataProduct,
      created: order.createdAt,
      status: statusesOf(order, baseUrl, decisions).at(-1),
      search_parameters: { datetime, geometry, filter },
      opportunity_properties: { datetime, product_id: dataProduct },
      order_parameters: {
        project_id: order.projectId,
        display_name: order.displayName,
        license_type: order.licenseType,
        ...otherParameters(params),
      },
      'groundtrack:estimated_credits': order.estimatedCredits,
      'groundtrack:reserved_credits': order.totalCredits,
    },
    links: [
      { rel: 'self', href: url, type: GEOJSON_TYPE, title: 'This order' },
      { rel: 'monitor', href: `${url}/statuses`, type: JSON_TYPE, title: 'Statuses of this order' },
      { rel: 'product', href: `${baseUrl}/stapi/products/${encodeURIComponent(dataProduct)}`, type: JSON_TYPE, title: 'Product' },
      ...cancelLinks(order, baseUrl),
    ],
  }
}

const intervalOf = ({ acquisitionStart, acquisitionEnd }: Json): string | null =>
  typeof acquisitionStart === 'string' && typeof acquisitionEnd === 'string' ? `${acquisitionStart}/${acquisitionEnd}` : null

/** The limits that the order has, as CQL2. */
function filterOf(params: Json): Json | null {
  const limits = Object.entries(LIMITS).flatMap(([property, { parameter }]) =>
    typeof params[parameter] === 'number' ? [{ op: '<=', args: [{ property }, params[parameter]] }] : [],
  )
  return limits.length > 1 ? { op: 'and', args: limits } : (limits[0] ?? null)
}

const MAPPED: readonly string[] = ['acquisitionStart', 'acquisitionEnd', ...Object.values(LIMITS).map(({ parameter }) => parameter)]
const otherParameters = (params: Json): Json => Object.fromEntries(Object.entries(params).filter(([name]) => !MAPPED.includes(name)))

/** A pass, with the properties that the vendor states. */
export function opportunityOf(pass: PassDocument, product: string, { geometry, bbox }: { geometry: unknown; bbox: number[] }): Json {
  const stated = { platform: pass.satellite, 'view:off_nadir': pass.offNadirDeg, 'view:sun_elevation': pass.sunElevationDeg }
  return {
    type: 'Feature',
    stapi_type: 'Opportunity',
    stapi_version: STAPI_VERSION,
    geometry,
    bbox,
    properties: {
      datetime: `${pass.start}/${pass.end}`,
      product_id: product,
      ...Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== null)),
    },
    links: [],
  }
}

/** Orders the window that was searched; a single pass is too short to be ordered. */
export const createOrderLink = (productUrl: string, { from, to, geometry, filter }: Search): StapiLink => ({
  rel: 'create-order',
  href: `${productUrl}/orders`,
  type: GEOJSON_TYPE,
  title: 'Order an image in this window; add project_id to order_parameters',
  method: 'POST',
  body: {
    datetime: `${from.toISOString()}/${to.toISOString()}`,
    geometry,
    ...(filter === null ? {} : { filter }),
    order_parameters: {},
  },
})
