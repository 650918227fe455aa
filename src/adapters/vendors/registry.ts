/** The registry of sources: who has imagery, what they sell, and under which licence. It is validated data. */
import { readFile } from 'node:fs/promises'
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { DATA_TYPES, type Licence, type Product, type Provider, type Source } from '#ports/vendors.ts'

/** How to reach a host; only adapters need this. */
export interface HostAddress {
  readonly hostName: string
  readonly url: string
  readonly token: string | null
  /** Hosts of its scene files, from which tiles can be rendered. */
  readonly fileHosts: readonly string[]
  /** A sandbox host: on loopback and without https. */
  readonly isSandbox: boolean
}

export interface Registry {
  readonly sources: readonly Source[]
  readonly hosts: readonly HostAddress[]
  readonly products: readonly Product[]
  readonly licences: readonly Licence[]
  readonly providers: readonly Provider[]
}

/** The URL of a host that the sandbox simulates. */
const SANDBOX = 'sandbox'

const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,62}$' })
const Text = Type.String({ maxLength: 2_000 })
const Bands = Type.Array(Closed({ name: Text, role: Nullable(Text) }), { maxItems: 400 })

const CollectionEntry = Closed({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  title: Text,
  description: Text,
  dataType: Choice(DATA_TYPES),
  gsdM: Nullable(Type.Number({ exclusiveMinimum: 0 })),
  bands: Bands,
  assets: Type.Array(Text, { maxItems: 50 }),
  publicProvider: Nullable(Choice(['landsat', 'naip', 'sentinel'])),
})

const ProductEntry = Closed({
  id: Uuid,
  name: Name,
  title: Text,
  description: Text,
  type: Choice(['ARCHIVE', 'TASKING']),
  collection: Type.String(),
  licenceId: Nullable(Uuid),
  licenseTypes: Type.Array(Name, { minItems: 1, maxItems: 20 }),
  steps: Type.Array(Choice(['feasibility', 'quotation']), { maxItems: 2 }),
  paramsSchema: FreeForm,
  gsdM: Type.Number({ exclusiveMinimum: 0 }),
  maxSqKm: Type.Optional(Nullable(Type.Number({ exclusiveMinimum: 0 }))),
  satellites: Type.Array(Closed({ name: Text, noradId: Type.Integer({ minimum: 1 }) }), { maxItems: 200 }),
})

const SourceEntry = Closed({
  id: Name,
  hostName: Name,
  title: Text,
  description: Text,
  /** `unless-sandbox`: replaced by the sandbox where that runs. */
  enabled: Type.Union([Type.Boolean(), Type.Literal('unless-sandbox')]),
  protocol: Choice(['stac', 'commercial']),
  url: Text,
  token: Nullable(Text),
  fileHosts: Type.Array(Type.String({ pattern: '^[a-z0-9.-]+(:[0-9]+)?$' }), { maxItems: 50 }),
  accessModel: Choice(['open', 'commercial']),
  scope: Choice(['global', 'regional', 'national']),
  countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { maxItems: 250 }),
  coverage: Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]), { maxItems: 100 }),
  attribution: Text,
  license: Text,
  provider: Name,
  renderStrategy: Choice(['cog', 'preview', 'points', 'none']),
  simulated: Type.Boolean(),
  markupPercent: Type.Number({ minimum: 0, maximum: 1_000 }),
  collections: Type.Array(CollectionEntry, { minItems: 1, maxItems: 500 }),
  products: Type.Array(ProductEntry, { maxItems: 500 }),
})

const RegistryFile = Closed({
  providers: Type.Array(
    Closed({
      name: Name,
      title: Text,
      description: Text,
      roles: Type.Array(Choice(['PRODUCER', 'HOST']), { minItems: 1 }),
      url: Nullable(Text),
    }),
    { maxItems: 500 },
  ),
  licences: Type.Array(
    Closed({
      id: Uuid,
      name: Text,
      createdAt: Timestamp,
      documents: Type.Array(
        Closed({ id: Uuid, version: Text, language: Text, validFrom: Timestamp, text: Type.String({ minLength: 1, maxLength: 200_000 }) }),
        { minItems: 1, maxItems: 100 },
      ),
    }),
    { maxItems: 500 },
  ),
  sources: Type.Array(SourceEntry, { maxItems: 500 }),
})

type Entry = Static<typeof SourceEntry>

export class RegistryError extends Error {}

/** Reads the registry that ships with the platform, or the operator's own. */
export async function readRegistry(path: string | null, sandboxUrl: string | null): Promise<Registry> {
  const file = path ?? new URL('./registry.json', import.meta.url)
  const where = path ?? 'the registry of sources'
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new RegistryError(`cannot read ${where}: ${(error as Error).message}`)
  })
  return parseRegistry(text, where, sandboxUrl)
}

export function parseRegistry(text: string, where: string, sandboxUrl: string | null): Registry {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new RegistryError(`${where} is not valid JSON: ${(error as Error).message}`)
  }
  if (!Value.Check(RegistryFile, value)) {
    const [first] = Value.Errors(RegistryFile, value)
    throw new RegistryError(`${where}: ${first?.instancePath || '/'} ${first?.message ?? 'is invalid'}`)
  }
  const entries = value.sources.filter((entry) => isOn(entry, sandboxUrl))
  requireConsistent(value, where)
  return {
    providers: value.providers,
    licences: value.licences,
    sources: entries.map(
      ({ products: _products, url: _url, token: _token, fileHosts: _fileHosts, enabled: _enabled, ...source }) => source,
    ),
    hosts: entries.map((entry) => addressOf(entry, sandboxUrl)),
    products: entries.flatMap(({ hostName, products }) =>
      products.map((product) => ({ ...product, hostName, maxSqKm: product.maxSqKm ?? null })),
    ),
  }
}

function addressOf({ hostName, url: given, token, fileHosts }: Entry, sandboxUrl: string | null): HostAddress {
  const isSandbox = given === SANDBOX
  const url = isSandbox ? `${sandboxUrl}/${hostName}` : given.replace(/\/+$/, '')
  return { hostName, url, token, isSandbox, fileHosts: isSandbox ? [new URL(url).host] : fileHosts }
}

function isOn({ enabled, url }: Entry, sandboxUrl: string | null): boolean {
  if (url === SANDBOX) return enabled === true && sandboxUrl !== null
  return enabled === 'unless-sandbox' ? sandboxUrl === null : enabled
}

/** Checks what a schema cannot express: duplicate names and unknown references. */
function requireConsistent({ sources, licences, providers }: Static<typeof RegistryFile>, where: string): void {
  const products = sources.flatMap((source) => source.products)
  for (const [what, names] of [
    ['sources', sources.map(({ id }) => id)],
    ['hosts', sources.map(({ hostName }) => hostName)],
    ['products', products.flatMap(({ id, name }) => [id, name])],
    ['licences', licences.flatMap(({ id, documents }) => [id, ...documents.map((document) => document.id)])],
  ] as const) {
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice !== undefined) throw new RegistryError(`${where}: two ${what} have the name '${twice}'`)
  }
  for (const source of sources) {
    if (!providers.some(({ name }) => name === source.provider))
      throw new RegistryError(`${where}: ${source.id} has the unknown provider '${source.provider}'`)
    for (const product of source.products) {
      if (!source.collections.some(({ id }) => id === product.collection))
        throw new RegistryError(`${where}: ${product.name} has the collection '${product.collection}', which ${source.id} does not have`)
      if (product.licenceId !== null && !licences.some(({ id }) => id === product.licenceId))
        throw new RegistryError(`${where}: ${product.name} has an unknown licence`)
    }
  }
}
