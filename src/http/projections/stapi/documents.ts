/** The documents of STAPI about what can be tasked: landing page, products and their parameters. */
import { isIn } from '#core/vocabulary.ts'

export type Json = Record<string, unknown>

export interface StapiLink {
  rel: string
  href: string
  type: string
  title: string
  method?: 'POST'
  body?: Json
}

export const STAPI_VERSION = '0.1.0'
export const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'
export const SCHEMA_TYPE = 'application/schema+json'

const stapiClass = (name: string) => `https://stapi.example.com/v${STAPI_VERSION}/${name}`
const geometryClass = (type: string) => `https://geojson.org/schema/${type}.json`

/** Conformance classes; `stapi.test.ts` and `test/peers/stapi.ts` test them. */
export const CONFORMANCE = [stapiClass('core'), stapiClass('order-statuses')]
export const PRODUCT_CONFORMANCE = [stapiClass('opportunities'), ...['Point', 'Polygon', 'MultiPolygon'].map(geometryClass)]

const link = (rel: string, href: string, title: string, type = JSON_TYPE): StapiLink => ({ rel, href, type, title })

export const landing = (stapiUrl: string, baseUrl: string): Json => ({
  id: 'groundtrack',
  title: 'Groundtrack tasking',
  description: 'Orders new satellite images of the products that this installation offers.',
  conformsTo: CONFORMANCE,
  links: [
    link('self', stapiUrl, 'This page'),
    link('root', stapiUrl, 'This page'),
    link('conformance', `${stapiUrl}/conformance`, 'Conformance classes'),
    link('products', `${stapiUrl}/products`, 'Products'),
    link('orders', `${stapiUrl}/orders`, 'Orders', GEOJSON_TYPE),
    link('service-desc', `${stapiUrl}/api`, 'OpenAPI document', 'application/vnd.oai.openapi+json;version=3.1'),
    link('service-doc', `${baseUrl}/docs/guides/buying`, 'Guide', 'text/html'),
  ],
})

interface Schema {
  properties?: Record<string, Json>
  required?: string[]
}

/** From `orders.tasking.sensors`. */
export interface Sensor {
  id: string
  title: string
  provider: string
  host: string
  resolution: number
  satellites: { name: string }[]
  dataProducts: { name: string; title: string; steps: string[]; maxSqKm: number | null; constraints: Schema }[]
}

/** A product with its sensor. */
export type Offer = Sensor['dataProducts'][number] & { sensor: Sensor }

/** Parameters of products that are the `datetime` of STAPI. */
export const WINDOW = ['acquisitionStart', 'acquisitionEnd'] as const

/** Parameters of products that are upper limits of a property, and the name of that property in STAC. */
export const LIMITS: Readonly<Record<string, { parameter: string; description: string }>> = {
  'eo:cloud_cover': { parameter: 'cloudCoverage', description: 'Cloud cover in percent; an upper limit, which passes do not predict' },
  'view:off_nadir': { parameter: 'maxOffNadirAngle', description: 'Off-nadir angle in degrees; an upper limit' },
}
const LIMITED = Object.values(LIMITS).map(({ parameter }) => parameter)

/** Our own parameters of an order, beside those of the product. */
const OWN_PARAMETERS: Readonly<Record<string, Json>> = {
  project_id: { type: 'string', format: 'uuid', title: 'Project', description: 'ID of the project that receives the imagery' },
  display_name: { type: 'string', minLength: 1, maxLength: 255, title: 'Name', description: 'Display name of the order' },
  max_credits: {
    type: 'integer',
    minimum: 0,
    title: 'Maximum price',
    description: 'The order is rejected if its estimated price in credits is higher',
  },
  license_type: { type: 'string', title: 'Licence type', description: 'Licence type of the product', default: 'standard' },
}

/** STAPI orders have a time window, so that products without one are not offered. */
const hasWindow = ({ constraints }: Sensor['dataProducts'][number]): boolean =>
  WINDOW.every((name) => Object.hasOwn(constraints.properties ?? {}, name))

export const offersOf = (sensors: readonly Sensor[]): Offer[] =>
  sensors.flatMap((sensor) => sensor.dataProducts.filter(hasWindow).map((product) => ({ ...product, sensor })))

const STEPS: Readonly<Record<string, string>> = { feasibility: 'a feasibility study', quotation: 'a quotation' }

function descriptionOf({ sensor, title, steps, maxSqKm }: Offer): string {
  const size = maxSqKm === null ? '' : ` One area has at most ${maxSqKm} km².`
  const agreed = steps.map((step) => STEPS[step] ?? step).join(' and ')
  const price = agreed === '' ? '' : ` The firm price comes with ${agreed}, which you accept before the image is acquired.`
  return `${title}, by ${sensor.title}, at ${sensor.resolution} m per pixel.${size}${price}`
}

export function productOf(offer: Offer, stapiUrl: string): Json {
  const { sensor, name, title } = offer
  const url = `${stapiUrl}/products/${encodeURIComponent(name)}`
  return {
    type: 'Collection',
    stapi_type: 'Product',
    stapi_version: STAPI_VERSION,
    id: name,
    conformsTo: PRODUCT_CONFORMANCE,
    title,
    description: descriptionOf(offer),
    keywords: [...new Set([sensor.provider, sensor.host, sensor.id])],
    license: 'proprietary',
    summaries: { gsd: [sensor.resolution], platform: sensor.satellites.map((satellite) => satellite.name) },
    links: [
      link('self', url, 'This product'),
      link('root', stapiUrl, 'Landing page'),
      link('conformance', `${url}/conformance`, 'Conformance classes of this product'),
      link('queryables', `${url}/queryables`, 'Properties for filters', SCHEMA_TYPE),
      link('order-parameters', `${url}/order-parameters`, 'Order parameters', SCHEMA_TYPE),
      { ...link('opportunities', `${url}/opportunities`, 'Satellite passes', GEOJSON_TYPE), method: 'POST' },
      { ...link('create-order', `${url}/orders`, 'Place an order', GEOJSON_TYPE), method: 'POST' },
    ],
  }
}

const schemaOf = (id: string, title: string, properties: Json, required: string[] = []): Json => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: id,
  title,
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
  additionalProperties: false,
})

/** What filters can limit. */
export function queryablesOf({ name, title, constraints }: Offer, stapiUrl: string): Json {
  const properties = Object.entries(LIMITS).flatMap(([property, { parameter, description }]) => {
    const schema = constraints.properties?.[parameter]
    return schema ? [[property, { ...schema, description }]] : []
  })
  return schemaOf(`${stapiUrl}/products/${encodeURIComponent(name)}/queryables`, title, Object.fromEntries(properties))
}

/** Our own parameters and those of the product that are neither a window nor a limit. */
export function orderParametersOf({ name, title, constraints }: Offer, stapiUrl: string): Json {
  const isOther = (parameter: string) => !isIn(WINDOW, parameter) && !LIMITED.includes(parameter)
  const others = Object.entries(constraints.properties ?? {}).filter(([parameter]) => isOther(parameter))
  return schemaOf(
    `${stapiUrl}/products/${encodeURIComponent(name)}/order-parameters`,
    title,
    { ...OWN_PARAMETERS, ...Object.fromEntries(others) },
    ['project_id', ...(constraints.required ?? []).filter(isOther)],
  )
}
