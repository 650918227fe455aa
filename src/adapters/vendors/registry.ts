/** The registry of sources: who has imagery, what they sell, and under which licence. It is validated data. */
import { readFile } from 'node:fs/promises'
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { CURRENCY } from '#core/money.ts'
import {
  ACCOUNT_OWNERS,
  CLOUD_MASKS,
  DATA_TYPES,
  PROTOCOLS,
  RENDER_STRATEGIES,
  SCALES,
  type ExchangeRate,
  type Licence,
  type Product,
  type Provider,
  type Source,
  type SourceCollection,
  type Terms,
} from '#ports/vendors/source.ts'
import { Auth, installationCredential, secretFieldsOf, type Credential, type Secrets } from './credential.ts'

/** How to reach a host; only adapters need this. */
export interface HostAddress {
  readonly hostName: string
  readonly url: string
  /** Base URLs of further services, by name. */
  readonly services: Readonly<Record<string, string>>
  readonly auth: Auth
  /** The operator's; null if only organizations have accounts. */
  readonly credential: Credential | null
  /** Hosts that receive the credential in addition to the API and its services. */
  readonly trustedHosts: readonly string[]
  /** Hosts that links to delivered files can redirect to, without the credential: `host`, `host:port` or `*.domain`. */
  readonly downloadHosts: readonly string[]
  /** Issues tokens that sign the URLs of files in Azure storage; null if files need none. */
  readonly sas: SasService | null
  /** Prefixes of file addresses that nobody can open, such as `s3://bucket/`, and the https prefixes of the same files. */
  readonly rewrite: Readonly<Record<string, string>>
  /** Maximum scenes per page. */
  readonly pageLimit: number
  /** How the host filters by cloud cover. */
  readonly filter: Filter
  /** Hosts of its scene files, from which tiles can be rendered. */
  readonly fileHosts: readonly string[]
  /** A sandbox host: on loopback and without https. */
  readonly isSandbox: boolean
}

interface SasService {
  /** A token is at `{url}/{account}/{container}`. */
  readonly url: string
  /** `account/container` of each container whose files are signed. */
  readonly containers: readonly string[]
}

export interface Registry {
  readonly sources: readonly Source[]
  readonly hosts: readonly HostAddress[]
  readonly products: readonly Product[]
  readonly licences: readonly Licence[]
  readonly providers: readonly Provider[]
  /** Sources that are disabled because a setting is missing, with its name. */
  readonly withoutCredential: readonly { readonly hostName: string; readonly setting: string }[]
}

export interface RegistryOptions {
  /** Null: simulated sources are disabled. */
  readonly sandboxUrl: string | null
  /** Whether only simulated sources are enabled. */
  readonly isOffline?: boolean
  /** Settings that hold the operator's credentials at hosts. */
  readonly secrets?: Secrets
  /** By currency; without one, nothing can be sold at the prices of a vendor with that currency. */
  readonly exchange?: ReadonlyMap<string, ExchangeRate>
}

/** The URL of a host that the sandbox simulates. */
const SANDBOX = 'sandbox'

const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,62}$' })
const Text = Type.String({ maxLength: 2_000 })
const AssetKey = Type.String({ minLength: 1, maxLength: 200 })
const Url = Type.String({ pattern: '^https?://[^ ?#]+$', maxLength: 2_000 })
const OptionalNumber = Type.Optional(Nullable(Type.Number()))

/** More than any order has. */
const MAX_CAPTURES_PER_ORDER = 1_000
const DEFAULT_POLL = { minSeconds: 1, maxSeconds: 600 }
const OWN_CURRENCY: ExchangeRate = { audPerUnit: 1, day: null, marginPercent: 0 }

const FILTERS = ['query', 'cql2', 'none'] as const
type Filter = (typeof FILTERS)[number]
const DEFAULT_PAGE_LIMIT = 500

const Band = Closed({
  name: Text,
  role: Nullable(Text),
  asset: Type.Optional(AssetKey),
  commonName: Type.Optional(Text),
  scale: OptionalNumber,
  offset: OptionalNumber,
  nodata: OptionalNumber,
})

const Host = Type.String({ pattern: '^[a-z0-9.-]+(:[0-9]+)?$' })
const DownloadHost = Type.String({ pattern: '^(\\*\\.)?[a-z0-9.-]+(:[0-9]+)?$' })
const Seconds = Type.Integer({ minimum: 1, maximum: 86_400 })

const Container = Type.String({ pattern: '^[a-z0-9]{3,24}/[a-z0-9-]{3,63}$' })
const Sas = Closed({ url: Url, containers: Type.Array(Container, { minItems: 1, maxItems: 100 }) })

const licenseFields = { attribution: Text, license: Text, licenseUrl: Type.Optional(Url) }

const CollectionEntry = Closed({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  title: Text,
  description: Text,
  dataType: Choice(DATA_TYPES),
  gsdM: Nullable(Type.Number({ exclusiveMinimum: 0 })),
  bands: Type.Array(Band, { maxItems: 400 }),
  /** Only for collections without bands. */
  assets: Type.Optional(Type.Array(AssetKey, { maxItems: 50 })),
  visual: Type.Optional(AssetKey),
  scale: Type.Optional(Choice(SCALES)),
  cloudMask: Type.Optional(Closed({ asset: AssetKey, kind: Choice(CLOUD_MASKS) })),
  /** If it differs from the source's. */
  renderStrategy: Type.Optional(Choice(RENDER_STRATEGIES)),
  publicProvider: Nullable(Choice(['landsat', 'naip', 'sentinel'])),
  /** If they differ from the source's. */
  terms: Type.Optional(Closed(licenseFields)),
})

const Cents = Type.Integer({ minimum: 0, maximum: 100_000_000 })
const RateCard = Type.Union([
  Closed({ basis: Type.Literal('area'), centsPerSqKm: Cents, minimumSqKm: Type.Number({ minimum: 0 }) }),
  Closed({ basis: Type.Literal('order'), cents: Cents }),
])

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
  vendorProduct: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  rateCard: Type.Optional(RateCard),
  satellites: Type.Array(Closed({ name: Text, noradId: Type.Integer({ minimum: 1 }) }), { maxItems: 200 }),
})

const SourceEntry = Closed({
  id: Name,
  hostName: Name,
  title: Text,
  description: Text,
  enabled: Type.Boolean(),
  /** `commercial` is the former name of `sandbox`. */
  protocol: Choice([...PROTOCOLS, 'commercial']),
  url: Type.Union([Type.Literal(SANDBOX), Url]),
  auth: Auth,
  services: Type.Optional(
    Type.Object({ sas: Type.Optional(Sas) }, { additionalProperties: Url, maxProperties: 10, propertyNames: { pattern: '^[a-z]{1,20}$' } }),
  ),
  downloadHosts: Type.Optional(Type.Array(DownloadHost, { maxItems: 50 })),
  rewrite: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9]+://[^ ]+/$' }), Url, { maxProperties: 50 })),
  pageLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  filter: Type.Optional(Choice(FILTERS)),
  fileHosts: Type.Array(Host, { maxItems: 50 }),
  accessModel: Choice(['open', 'commercial']),
  scope: Choice(['global', 'regional', 'national']),
  countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), { maxItems: 250 }),
  coverage: Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]), { maxItems: 100 }),
  ...licenseFields,
  provider: Name,
  renderStrategy: Choice(RENDER_STRATEGIES),
  simulated: Type.Boolean(),
  markupPercent: Type.Number({ minimum: 0, maximum: 1_000 }),
  accounts: Type.Optional(Type.Array(Choice(ACCOUNT_OWNERS), { minItems: 1, maxItems: 2, uniqueItems: true })),
  currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  billing: Type.Optional(Choice(['union', 'each'])),
  capturesPerOrder: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_CAPTURES_PER_ORDER })),
  oneAreaPerOrder: Type.Optional(Type.Boolean()),
  poll: Type.Optional(Closed({ minSeconds: Seconds, maxSeconds: Seconds })),
  cancellable: Type.Optional(Type.Boolean()),
  /** Whether it has been used with a real account; `true` by default for sources without accounts and simulated ones. */
  tested: Type.Optional(Type.Boolean()),
  searchPrices: Type.Optional(Type.Boolean()),
  handlingCents: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
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
export async function readRegistry(path: string | null, options: RegistryOptions): Promise<Registry> {
  const file = path ?? new URL('./registry.json', import.meta.url)
  const where = path ?? 'the registry of sources'
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new RegistryError(`cannot read ${where}: ${(error as Error).message}`)
  })
  return parseRegistry(text, where, options)
}

export function parseRegistry(text: string, where: string, options: RegistryOptions): Registry {
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
  requireConsistent(value, where)
  const { secrets = {} } = options
  const reachable = value.sources
    .filter((entry) => isOn(entry, options))
    .map((entry) => ({ entry, ...installationCredential(entry.auth, entry.hostName, secrets) }))
  const entries = reachable.filter(({ entry, credential }) => credential !== null || accountsOf(entry).includes('organization'))
  return {
    providers: value.providers,
    licences: value.licences,
    sources: entries.map(({ entry, credential }) => sourceOf(entry, credential !== null, options.exchange)),
    hosts: entries.map(({ entry, credential }) => addressOf(entry, credential, options.sandboxUrl)),
    products: entries.flatMap(({ entry: { hostName, products } }) =>
      products.map((product) => ({
        ...product,
        hostName,
        maxSqKm: product.maxSqKm ?? null,
        vendorProduct: product.vendorProduct ?? null,
        rateCard: product.rateCard ?? null,
      })),
    ),
    withoutCredential: reachable.flatMap(({ entry, missing }) =>
      missing && !accountsOf(entry).includes('organization') ? [{ hostName: entry.hostName, setting: missing }] : [],
    ),
  }
}

const accountsOf = ({ accounts = ['installation'] }: Entry): readonly (typeof ACCOUNT_OWNERS)[number][] => accounts

function sourceOf(entry: Entry, hasCredential: boolean, exchange: RegistryOptions['exchange']): Source {
  const {
    products: _p,
    url: _u,
    auth,
    services: _s,
    rewrite: _r,
    pageLimit: _l,
    filter: _f,
    fileHosts: _h,
    downloadHosts: _d,
    enabled: _e,
    cancellable,
    tested,
    oneAreaPerOrder = false,
    searchPrices,
    ...source
  } = entry
  const accounts = accountsOf(entry)
  const currency = entry.currency ?? CURRENCY
  const protocol = entry.protocol === 'commercial' ? 'sandbox' : entry.protocol
  return {
    ...source,
    protocol,
    ...termsOf(source),
    collections: source.collections.map((collection) => collectionOf(collection, source.renderStrategy)),
    accounts,
    hasInstallationAccount: hasCredential && accounts.includes('installation'),
    secretFields: accounts.includes('organization') ? secretFieldsOf(auth) : [],
    currency,
    exchange: currency === CURRENCY ? OWN_CURRENCY : (exchange?.get(currency) ?? null),
    billing: entry.billing ?? (protocol === 'sandbox' ? 'union' : 'each'),
    capturesPerOrder: entry.capturesPerOrder ?? MAX_CAPTURES_PER_ORDER,
    hasOneAreaPerOrder: oneAreaPerOrder,
    poll: entry.poll ?? DEFAULT_POLL,
    isCancellable: cancellable ?? true,
    isTested: tested ?? (entry.simulated || entry.accessModel === 'open'),
    hasSearchPrices: searchPrices ?? true,
    handlingCents: entry.handlingCents ?? 0,
  }
}

function collectionOf(entry: Static<typeof CollectionEntry>, renderStrategy: Source['renderStrategy']): SourceCollection {
  const bands = entry.bands.map(({ asset = null, commonName = null, scale = null, offset = null, nodata = null, ...band }) => ({
    ...band,
    asset,
    commonName,
    scale,
    offset,
    nodata,
  }))
  return {
    ...entry,
    bands,
    assets: entry.assets ?? [...new Set(bands.flatMap(({ asset }) => asset ?? []))],
    visual: entry.visual ?? null,
    scale: entry.scale ?? 'stac',
    cloudMask: entry.cloudMask ?? null,
    renderStrategy: entry.renderStrategy ?? renderStrategy,
    terms: entry.terms ? termsOf(entry.terms) : null,
  }
}

const termsOf = ({ attribution, license, licenseUrl }: NonNullable<Static<typeof CollectionEntry>['terms']>): Terms => ({
  attribution,
  license,
  licenseUrl: licenseUrl ?? null,
})

function addressOf(entry: Entry, credential: Credential | null, sandboxUrl: string | null): HostAddress {
  const { hostName, auth, fileHosts, downloadHosts = [], rewrite = {}, pageLimit = DEFAULT_PAGE_LIMIT, filter = 'query' } = entry
  const { sas, ...services } = (entry.services ?? {}) as { sas?: Static<typeof Sas> } & Record<string, string>
  const isSandbox = entry.url === SANDBOX
  const url = isSandbox ? `${sandboxUrl}/${hostName}` : withoutSlash(entry.url)
  return {
    hostName,
    url,
    services: Object.fromEntries(Object.entries(services).map(([name, base]) => [name, withoutSlash(base)])),
    auth,
    credential,
    trustedHosts: 'hosts' in auth ? (auth.hosts ?? []) : [],
    downloadHosts,
    sas: sas ? { ...sas, url: withoutSlash(sas.url) } : null,
    rewrite,
    pageLimit,
    filter,
    isSandbox,
    fileHosts: isSandbox ? [new URL(url).host] : fileHosts,
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

const isOn = ({ enabled, url }: Entry, { sandboxUrl, isOffline = false }: RegistryOptions): boolean =>
  enabled && (url === SANDBOX ? sandboxUrl !== null : !isOffline)

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
