import Type from 'typebox'
import { Choice, Closed, Described, FreeForm, Nullable, Uuid } from '#core/shapes.ts'
import type { Product, Provider, Source, SourceCollection } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { NamedBand } from '#wire/band.ts'

const ProductEntry = Closed(
  {
    id: Described(Uuid, 'Data product ID'),
    name: Type.String({ description: 'Data product name' }),
    title: Type.String({ description: 'Data product title' }),
    eulaId: Described(Nullable(Uuid), 'ID of the licence to accept; null if none is required'),
  },
  { $id: 'GlossaryProductEntry', description: 'A data product of a collection' },
)

export const CollectionRecord = Closed(
  {
    name: Type.String({ description: 'Collection name, as searches accept it' }),
    title: Type.String({ description: 'Collection title' }),
    description: Type.String({ description: 'Collection description' }),
    type: Choice(['ARCHIVE', 'TASKING'], { description: 'Whether existing or new imagery is sold' }),
    hostName: Type.String({ description: 'Host name to search with `catalog.search`' }),
    dataType: Type.String({ description: 'Type of imagery, such as `optical` or `radar`' }),
    resolutionMeters: Described(Nullable(Type.Number()), 'Ground resolution in metres per pixel; null if it varies'),
    bands: Type.Array(NamedBand, { description: 'Bands of the collection' }),
    providers: Type.Array(
      Closed({
        name: Type.String({ description: 'Provider name' }),
        title: Type.String({ description: 'Provider title' }),
        roles: Type.Array(Type.String(), { description: 'What the company does, such as `PRODUCER` or `HOST`' }),
      }),
      { description: 'Companies behind the collection' },
    ),
    dataProducts: Type.Array(ProductEntry, { description: 'Data products on offer; empty for open data' }),
    integrations: Type.Array(Type.String(), { description: 'Supported integrations' }),
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
  },
  { $id: 'GlossaryCollection', description: 'A collection of imagery on offer' },
)

export const ProductRecord = Closed(
  {
    id: Described(Uuid, 'Data product ID'),
    name: Type.String({ description: 'Data product name' }),
    title: Type.String({ description: 'Data product title' }),
    description: Type.String({ description: 'Description of the data product' }),
    type: Choice(['ARCHIVE', 'TASKING'], { description: 'Whether existing or new imagery is sold' }),
    collectionName: Type.String({ description: 'Name of the collection the product is from' }),
    hostName: Type.String({ description: 'Name of the vendor that sells it' }),
    resolutionMeters: Type.Number({ description: 'Ground resolution in metres per pixel' }),
    maxSqKm: Nullable(Type.Number({ description: 'Maximum area of one capture or one tasking feature in km²; null if there is no limit' })),
    eulaId: Nullable(Type.String({ format: 'uuid', description: 'ID of the licence to accept; null if none is required' })),
    licenseTypes: Type.Array(Type.String(), { description: 'Licence types on offer' }),
    steps: Type.Array(Choice(['feasibility', 'quotation']), { description: 'Steps before a tasking order starts' }),
    schema: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: "JSON Schema of the order's `params`" }),
    simulated: Type.Boolean({ description: 'Whether the imagery is simulated (sandbox)' }),
  },
  { $id: 'GlossaryProduct', description: 'A data product' },
)

export const ProviderRecord = Closed(
  {
    name: Type.String({ description: 'Provider name' }),
    title: Type.String({ description: 'Provider title' }),
    description: Type.String({ description: 'Provider description' }),
    roles: Type.Array(Choice(['PRODUCER', 'HOST']), { description: 'Roles of the provider' }),
    url: Described(Nullable(Type.String()), 'Provider website; null if unknown'),
    collections: Type.Array(
      Closed({
        name: Type.String({ description: 'Collection name' }),
        title: Type.String({ description: 'Collection title' }),
        hostName: Type.String({ description: 'Name of the vendor that sells it' }),
      }),
      { description: 'Collections of the provider' },
    ),
  },
  { $id: 'GlossaryProvider', description: 'A provider of imagery' },
)

interface GlossaryEntry {
  readonly source: Source
  readonly collection: SourceCollection
  readonly type: Product['type']
  readonly products: readonly Product[]
}

/** One entry per collection, and a second if it can be tasked as well. */
export function entriesOf({ sources, products }: Vendors): GlossaryEntry[] {
  return sources
    .flatMap((source) =>
      source.collections.flatMap((collection) => {
        const offered = products.filter(({ hostName, collection: name }) => hostName === source.hostName && name === collection.id)
        const entry = (type: Product['type']): GlossaryEntry => ({
          source,
          collection,
          type,
          products: offered.filter((product) => product.type === type),
        })
        return offered.some(({ type }) => type === 'TASKING') ? [entry('ARCHIVE'), entry('TASKING')] : [entry('ARCHIVE')]
      }),
    )
    .toSorted(
      (a, b) => a.collection.id.localeCompare(b.collection.id) || a.type.localeCompare(b.type) || a.source.id.localeCompare(b.source.id),
    )
}

export const integrationsOf = ({ source, type, products }: GlossaryEntry): string[] => [
  'SEARCH_AVAILABLE',
  ...(products.length > 0 ? ['ORDER_AVAILABLE'] : []),
  ...(type === 'TASKING' ? ['FEASIBILITY_MAY_BE_REQUIRED'] : []),
  ...(source.renderStrategy === 'cog' ? ['TILES_AVAILABLE'] : []),
]

export function toCollection(vendors: Vendors, entry: GlossaryEntry) {
  const { source, collection, type, products } = entry
  const provider = vendors.providers.find(({ name }) => name === source.provider)
  return {
    name: collection.id,
    title: collection.title,
    description: collection.description,
    type,
    hostName: source.hostName,
    dataType: collection.dataType,
    resolutionMeters: collection.gsdM,
    bands: collection.bands.map(({ name, role }) => ({ name, role })),
    providers: provider ? [{ name: provider.name, title: provider.title, roles: [...provider.roles] }] : [],
    dataProducts: products.map(({ id, name, title, licenceId }) => ({ id, name, title, eulaId: licenceId })),
    integrations: integrationsOf(entry),
    simulated: source.simulated,
  }
}

export const toProduct = (vendors: Vendors, product: Product) => ({
  id: product.id,
  name: product.name,
  title: product.title,
  description: product.description,
  type: product.type,
  collectionName: product.collection,
  hostName: product.hostName,
  resolutionMeters: product.gsdM,
  maxSqKm: product.maxSqKm,
  eulaId: product.licenceId,
  licenseTypes: [...product.licenseTypes],
  steps: [...product.steps],
  schema: { ...product.paramsSchema },
  simulated: vendors.source(product.hostName)?.simulated ?? false,
})

export const toProvider = ({ sources }: Vendors, { name, title, description, roles, url }: Provider) => ({
  name,
  title,
  description,
  roles: [...roles],
  url,
  collections: sources
    .filter(({ provider }) => provider === name)
    .flatMap(({ hostName, collections }) => collections.map((collection) => ({ name: collection.id, title: collection.title, hostName }))),
})

export const EXAMPLE_PRODUCT = {
  id: '0199f2d9-0000-7000-8000-000000000002',
  name: 'sandbox-hr-analytic',
  title: 'Archive for analysis, 3 m',
  description: 'An archive scene, or the ordered part of it',
  type: 'ARCHIVE' as const,
  collectionName: 'sandbox-hr',
  hostName: 'sandbox-hr',
  resolutionMeters: 3,
  maxSqKm: 400,
  eulaId: '0199f2d9-0000-7000-8000-000000000001',
  licenseTypes: ['standard'],
  steps: [],
  schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  simulated: false,
}
export const EXAMPLE_COLLECTION = {
  name: 'sandbox-hr',
  title: 'High resolution, 3 m',
  description: 'Eight bands at 3 m',
  type: 'ARCHIVE' as const,
  hostName: 'sandbox-hr',
  dataType: 'raster',
  resolutionMeters: 3,
  bands: [{ name: 'red', role: 'RED' }],
  providers: [{ name: 'groundtrack-sandbox', title: 'A vendor', roles: ['PRODUCER', 'HOST'] }],
  dataProducts: [{ id: EXAMPLE_PRODUCT.id, name: 'sandbox-hr-analytic', title: EXAMPLE_PRODUCT.title, eulaId: EXAMPLE_PRODUCT.eulaId }],
  integrations: ['SEARCH_AVAILABLE', 'ORDER_AVAILABLE'],
  simulated: false,
}
export const EXAMPLE_PROVIDER = {
  name: 'groundtrack-sandbox',
  title: 'A vendor',
  description: 'Operates eight satellites',
  roles: ['PRODUCER' as const, 'HOST' as const],
  url: 'https://vendor.example/',
  collections: [{ name: 'sandbox-hr', title: 'High resolution, 3 m', hostName: 'sandbox-hr' }],
}
