/** Parses and validates order input: scenes and areas, products and their parameters. */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { squareAround } from '#core/overlay.ts'
import { requireArea, requireGeometry, type AreaGeometry, type Geometry } from '#core/geometry.ts'
import { mapInTime } from '#core/in-parts.ts'
import { explainErrors } from '#core/input-errors.ts'
import { invalidField, invalidInput, notFound, problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { audOf } from '#core/money.ts'
import type { CaptureRequest, PricedGroup, TaskingRequest, Unpriced } from '#model/orders/pricing.ts'
import type { Context } from '#operation.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { BilledByVendor, billedByVendor, round } from './wire.ts'

const MAX_CAPTURES = 200
/** Side of the square that is ordered around a point. */
const POINT_SIDE_KM = 1

export const CaptureInput = Closed(
  {
    id: Type.String({ minLength: 1, maxLength: 256, description: 'Scene ID from `catalog.search`' }),
    geometry: Described(GeoJsonArea, 'Part of the scene to order: GeoJSON Polygon or MultiPolygon'),
    host: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Host name; determined from the scene ID if omitted' }))),
  },
  { $id: 'OrderCapture', description: 'A scene or part of a scene to order' },
)
export const Captures = Type.Array(CaptureInput, { minItems: 1, maxItems: MAX_CAPTURES, description: 'Scenes or parts of scenes to order' })

interface CaptureFields {
  id: string
  geometry: unknown
  host?: string | null
}

export async function capturesOf(requests: readonly CaptureFields[]): Promise<CaptureRequest[]> {
  return await mapInTime(requests, ({ id, geometry, host }, index) => ({
    id,
    geometry: requireArea(geometry, `captures.${index}.geometry`),
    host: host ?? null,
    productId: null,
  }))
}

export function requireProduct(vendors: Vendors, idOrName: string, type?: Product['type']): Product {
  const product = vendors.product(idOrName)
  if (!product) throw notFound('data product')
  if (type && product.type !== type)
    throw problem('bad-request', `'${product.name}' is ${product.type === 'ARCHIVE' ? 'an archive' : 'a tasking'} product`)
  return product
}

interface TaskingInput {
  dataProduct: string
  featureCollection: Record<string, unknown>
  params?: Record<string, unknown> | null
}

export interface TaskingGroupRequest extends TaskingRequest {
  featureCollection: Record<string, unknown>
}

export async function taskingOf(
  { vendors, clock }: Pick<Context, 'vendors' | 'clock'>,
  { dataProduct, featureCollection, params }: TaskingInput,
  at = '',
): Promise<TaskingGroupRequest> {
  const product = requireProduct(vendors, dataProduct, 'TASKING')
  requireParams(product, params ?? {}, `${at}params`)
  requireOpenWindow(params ?? {}, clock.now(), `${at}params`)
  const field = `${at}featureCollection`
  const features = await featuresOf(featureCollection, field)
  return {
    product,
    params: params ?? {},
    featureCollection: { ...featureCollection, features: features.map(asStored) },
    areas: features.map(({ area }) => area),
    field,
  }
}

/** 422 for an acquisition window in the past. */
export function requireOpenWindow(params: Record<string, unknown>, now: Date, field: string): void {
  const end = params['acquisitionEnd']
  if (typeof end === 'string' && Date.parse(end) < now.getTime())
    throw invalidField(`${field}.acquisitionEnd`, `is in the past; it must be after ${now.toISOString()}`)
}

const asStored = ({ feature, geometry }: TaskedFeature) => ({ ...feature, geometry })

interface TaskedFeature {
  feature: object
  /** The geometry as given, which is stored. */
  geometry: Geometry
  /** The area to acquire; for a point, a square around it. */
  area: AreaGeometry
}

/** Returns the features; 422 for an invalid geometry. */
export async function featuresOf(featureCollection: Record<string, unknown>, field: string): Promise<TaskedFeature[]> {
  return await mapInTime(featureCollection['features'] as ({ geometry?: unknown } | null)[], (feature, index) => {
    const at = `${field}.features.${index}.geometry`
    const geometry = requireGeometry(feature?.geometry, at)
    if (geometry.type === 'Point') return { feature: feature!, geometry, area: squareAround(geometry.coordinates, POINT_SIDE_KM) }
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') throw invalidField(at, 'must be a Polygon, MultiPolygon or Point')
    return { feature: feature!, geometry, area: geometry }
  })
}

type Validator = ReturnType<typeof Compile>
/** Compiled once for each product's schema, and released with it. */
const validators = new WeakMap<object, Validator>()

/** 422 with each parameter that the product does not accept. */
export function requireParams({ paramsSchema, name }: Product, params: Record<string, unknown>, field: string): void {
  const validator = validators.get(paramsSchema) ?? Compile(Type.Unsafe<unknown>(paramsSchema))
  validators.set(paramsSchema, validator)
  if (validator.Check(params)) return
  const errors = explainErrors(Type.Unsafe<unknown>(paramsSchema), validator.Errors(params), params, name)
  throw invalidInput(
    errors.map(({ field: name, message }) => ({
      field: name === 'body' ? field : `${field}.${name}`,
      message: `${message}; orders.get_schema has the schema`,
    })),
  )
}

/** A part of an order that could not be priced, as estimates return it. */
export const ErrorRecord = Closed(
  {
    index: Type.Integer({ description: 'Position in the request, counted from 0' }),
    id: Nullable(Type.String({ description: 'Requested scene or data product ID; null if unknown' })),
    host: Nullable(Type.String({ description: 'Host name; null if unknown' })),
    reason: Type.String({ description: 'Why it could not be priced' }),
  },
  { $id: 'PricingError', description: 'A part that could not be priced' },
)

export const errorRecord = ({ index, id, host, reason }: Unpriced) => ({ index, id, host, reason })

/** Throws the vendor's problem, or 422 with the errors that an estimate would return: an order is never placed in part. */
export function requirePriced(errors: readonly Unpriced[], field: string): void {
  const failed = errors.find((error) => error.problem !== null)
  if (failed) throw failed.problem!
  if (errors.length === 0) return
  throw invalidInput(errors.map((error) => ({ field: `${field}.${error.index}`, message: error.reason, ...errorRecord(error) })))
}

export const Estimated = {
  aoi_km2: Type.Number({ description: 'Total area in km²' }),
  billed_km2: Type.Number({ description: "Charged area in km²: at least the vendor's minimum" }),
  credits: Type.Integer({ description: 'Price in credits' }),
  aud: Type.Number({ description: 'Price in Australian dollars; 100 credits cost A$1' }),
  billedByVendor: Described(
    BilledByVendor,
    'Amount that the vendor bills directly, in addition to the price in credits; null if the order is paid here',
  ),
}

/** The price of a group, as estimates return it. */
export const estimatedOf = ({
  areaKm2,
  billedKm2,
  credits,
  charge,
}: Pick<PricedGroup, 'areaKm2' | 'billedKm2' | 'credits' | 'charge'>) => ({
  aoi_km2: round(areaKm2),
  billed_km2: round(billedKm2),
  credits,
  aud: audOf(credits),
  billedByVendor: billedByVendor(charge),
})

export const EstimatedPart = Closed(
  {
    index: Type.Integer({ description: 'Position in the request, counted from 0' }),
    dataProduct: Type.String({ description: 'Data product name' }),
    ...Estimated,
  },
  { $id: 'EstimatedPart', description: 'Estimated price of one part' },
)
