/** What the simulated UP42 offers: collections with their hosts, products, licences and order forms. */
import type { SensorId } from '../../scenes/index.ts'
import { HOSTS, type SandboxHost } from '../hosts.ts'

interface SimulatedProduct {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly eulaId: string
}

export interface SimulatedCollection {
  readonly name: string
  readonly title: string
  readonly type: 'ARCHIVE' | 'TASKING'
  /** The provider that is searched, and the one that took the images. */
  readonly host: string
  readonly producer: string
  readonly products: readonly SimulatedProduct[]
}

const SENSOR = 'sandbox-hr' satisfies SensorId
export const CREDITS_PER_SQ_KM = 700
export const MIN_SQ_KM = 0.5
export const MAX_SQ_KM = 400

const product = (id: string, name: string, title: string, eulaId: string): SimulatedProduct => ({ id, name, title, eulaId })
const OPTICAL = '4136a5db-0000-4000-8000-000000000001'
const NEO = '4136a5db-0000-4000-8000-000000000002'

export const COLLECTIONS: readonly SimulatedCollection[] = [
  {
    name: 'phr',
    title: 'Pléiades',
    type: 'ARCHIVE',
    host: 'oneatlas',
    producer: 'airbus',
    products: [
      product('647780db-5a06-4b61-b525-577a8b68bb54', 'display', 'Display', OPTICAL),
      product('4f1b2f62-98df-4c74-81f4-5dce45deee99', 'analytic', 'Analytic', OPTICAL),
    ],
  },
  {
    name: 'pneo',
    title: 'Pléiades Neo',
    type: 'ARCHIVE',
    host: 'oneatlas-neo',
    producer: 'airbus',
    products: [product('17745de8-6e7d-4751-99cd-3f8e9e9d290e', 'display', 'Display', NEO)],
  },
  {
    name: 'pneo-tasking',
    title: 'Pléiades Neo tasking',
    type: 'TASKING',
    host: 'oneatlas-neo',
    producer: 'airbus',
    products: [product('123eabab-0511-4f36-883a-80928716c3db', 'tasking', 'Tasking', NEO)],
  },
  {
    name: 'capella-gec',
    title: 'Capella',
    type: 'ARCHIVE',
    host: 'capellaspace',
    producer: 'capella',
    products: [product('1f2b0d7f-d3e2-4b3d-96b7-e7c184df7952', 'gec', 'GEC', NEO)],
  },
]

/** The sandbox's scenes under the name of a collection. */
export const libraryHost = (name: string): SandboxHost & { sensor: SensorId } => ({
  ...HOSTS.find((host) => host.name === SENSOR)!,
  name,
  sensor: SENSOR,
})
export const TASKED_SENSOR: SensorId = SENSOR

export const collectionOf = (productId: string): SimulatedCollection | null =>
  COLLECTIONS.find(({ products }) => products.some(({ id }) => id === productId)) ?? null

export const collectionView = ({ name, title, type, host, producer, products }: SimulatedCollection) => ({
  name,
  title,
  description: `Simulated images of ${title}`,
  type,
  integrations:
    type === 'ARCHIVE'
      ? ['SEARCH_AVAILABLE', 'QUICKLOOK_AVAILABLE', 'PRICE_ESTIMATION_AVAILABLE']
      : ['FEASIBILITY_STUDY_REQUIRED', 'QUOTATION_REQUIRED', 'PRICE_ESTIMATION_AVAILABLE'],
  providers: [
    { name: producer, title: producer, description: 'Takes the images', roles: ['PRODUCER'] },
    { name: host, title: host, description: 'Has the images', roles: ['HOST'] },
  ],
  dataProducts: products.map((each) => ({ ...each, description: `${title}, ${each.title}` })),
  metadata: { productType: 'OPTICAL', resolutionClass: 'VERY_HIGH', resolutionValue: { minimum: 0.3, maximum: 0.5 } },
})

/** A parameter that the order form requires and fills in. */
export const FORM_DEFAULT = { name: 'radiometricProcessing', value: 'display' } as const

export function orderForm({ type }: SimulatedCollection) {
  const shape = { type: 'object', $ref: '#/definitions/Polygon' }
  const time = { type: 'string', format: 'date-time' }
  const fill = { [FORM_DEFAULT.name]: { type: 'string', default: FORM_DEFAULT.value, enum: ['display', 'reflectance'] } }
  return {
    $schema: 'https://json-schema.org/draft-07/schema',
    type: 'object',
    title: type === 'ARCHIVE' ? 'ArchiveParams' : 'TaskingParams',
    definitions: { Polygon: { type: 'object' } },
    properties:
      type === 'ARCHIVE'
        ? { id: { title: 'Id', type: 'string' }, aoi: shape, ...fill }
        : { geometry: shape, acquisitionStart: time, acquisitionEnd: time, cloudCoverage: { type: 'integer' }, ...fill },
    required: type === 'ARCHIVE' ? ['id', 'aoi', FORM_DEFAULT.name] : ['geometry', 'acquisitionStart', 'acquisitionEnd', FORM_DEFAULT.name],
    additionalProperties: false,
  }
}
