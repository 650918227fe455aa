/** Clients of all vendors in the registry. */
import { LRUCache } from 'lru-cache'
import { createEgress } from '#adapters/egress/guard.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Scene, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { VendorShop } from '#ports/vendors/shop.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import type { AccountCheck, Vendors } from '#ports/vendors/vendors.ts'
import type { Clock } from '#core/clock.ts'
import type { VendorAccounts } from '#ports/vendor-accounts.ts'
import { accountTokenName, type VendorTokens } from '#ports/vendor-tokens.ts'
import { createAuthorizer } from './authorizer.ts'
import { createCatalog } from './catalog.ts'
import { credentialOf, type Credential } from './credential.ts'
import { ALWAYS_HEALTHY, createHealth } from './health.ts'
import { createDownloads } from './file-download.ts'
import { createHost, type Host } from './host.ts'
import type { HostAddress, Registry } from './registry.ts'
import { checkPlanetAccount, createPlanetCatalog } from './planet/catalog.ts'
import { createItems } from './planet/items.ts'
import { createPlanetShop } from './planet/shop.ts'
import { createSandboxShop } from './sandbox/shop.ts'
import { createArchives } from './skyfi/archives.ts'
import { createSkyfiCatalog } from './skyfi/catalog.ts'
import { checkSkyfiAccount, createSkyfiShop } from './skyfi/shop.ts'
import { createFileUrls } from './signed-files.ts'
import { createUp42Catalog } from './up42/catalog.ts'
import { createGlossary } from './up42/glossary.ts'
import { checkUp42Account, createUp42Shop } from './up42/shop.ts'
import { createUmbraCatalog } from './umbra/catalog.ts'
import { checkUmbraAccount, createUmbraShop } from './umbra/shop.ts'
import { createStapiCatalog } from './stapi/catalog.ts'
import { checkStapiAccount, createStapiShop } from './stapi/shop.ts'

interface Client {
  readonly catalog: VendorCatalog
  /** Null for open data. */
  readonly shop: VendorShop | null
  /** The cheapest request that needs an account. */
  check(options: CallOptions): Promise<AccountCheck>
}

/** Clients of organizations' accounts; each has its own queue and limits. */
const MAX_ACCOUNT_CLIENTS = 1_000

interface VendorsOptions {
  registry: Registry
  clock: Clock
  /** Access tokens that all processes share. */
  tokens: VendorTokens
  /** Accounts of organizations. */
  accounts: VendorAccounts
  /** `host` or `host:port` that may be private or plain http, in addition to the sandbox. */
  egressAllow: readonly string[]
  /** How many times longer than usual a host may take. */
  deadlineFactor?: number
}

/** Hosts of the sources' files: those that tiles can be rendered from, and which of them are private. */
interface FileHosts {
  readonly all: readonly string[]
  readonly sandbox: readonly string[]
}

export function fileHostsOf({ hosts }: Registry): FileHosts {
  const distinct = (names: readonly string[]) => [...new Set(names)]
  return {
    all: distinct(hosts.flatMap(({ fileHosts }) => fileHosts)),
    sandbox: distinct(hosts.filter(({ isSandbox }) => isSandbox).map(({ url }) => new URL(url).host)),
  }
}

export function createVendors({ registry, egressAllow, deadlineFactor = 1, clock, tokens, accounts }: VendorsOptions): Vendors {
  const { sources, products, licences, providers, hosts } = registry
  const egress = createEgress({ allow: [...egressAllow, ...fileHostsOf(registry).sandbox] })
  const hostAt = (
    address: HostAddress,
    credentialNow: () => Promise<Credential>,
    { tokenName = 'api', shared = tokens, credentials = 'the credentials' } = {},
  ): Host => {
    const authorizer = createAuthorizer(credentialNow, { hostName: address.hostName, tokenName, egress, tokens: shared, clock })
    const health = address.isSandbox ? ALWAYS_HEALTHY : createHealth()
    return createHost(address, { egress, authorizer, deadlineFactor, health, credentials })
  }
  const signing = hosts.flatMap((address) =>
    address.sas ? [{ address, service: hostAt({ ...address, url: address.sas.url }, async () => ({ kind: 'none' })) }] : [],
  )
  const addressOf = (hostName: string): { source: Source; address: HostAddress } => {
    const source = sources.find((each) => each.hostName === hostName)
    if (!source) throw new VendorError('not-found', hostName, `Unknown host '${hostName}'`)
    return { source, address: hosts.find((each) => each.hostName === hostName)! }
  }
  const clientAt = ({ source, address }: ReturnType<typeof addressOf>, host: Host, isOwnAccount: boolean): Client =>
    clientOf(host, { source, address, isOwnAccount, clock, products: products.filter(({ hostName }) => hostName === source.hostName) })
  const own = new Map<string, Client>()
  const ofAccounts = new LRUCache<string, Client>({ max: MAX_ACCOUNT_CLIENTS })
  const client = (hostName: string, accountId: string | null = null): Client => {
    const known = accountId === null ? own.get(hostName) : ofAccounts.get(accountId)
    if (known) return known
    const { source, address } = addressOf(hostName)
    const credentialNow = async (): Promise<Credential> => {
      if (accountId === null) return requireInstallation(address)
      const secret = await accounts.secretOf(accountId)
      if (!secret) throw new VendorError('unauthorized', hostName, `The account of the organization at ${hostName} was disconnected`)
      return credentialOf(address.auth, secret)
    }
    const host = hostAt(
      address,
      credentialNow,
      accountId === null ? {} : { tokenName: accountTokenName(accountId), credentials: OF_ORGANIZATION },
    )
    const made = clientAt({ source, address }, host, accountId !== null)
    if (accountId === null) own.set(hostName, made)
    else ofAccounts.set(accountId, made)
    return made
  }
  const files = createFileUrls(signing, { tokens, clock })
  return {
    sources,
    products,
    licences,
    providers,
    source: (hostName) => sources.find((source) => source.hostName === hostName) ?? null,
    product: (idOrName) => products.find(({ id, name }) => id === idOrName || name === idOrName) ?? null,
    licence: (licenceId) => licences.find(({ id }) => id === licenceId) ?? null,
    catalog: (hostName, accountId) => client(hostName, accountId).catalog,
    scene: createScenes((hostName) => client(hostName).catalog),
    files,
    download: createDownloads({ egress, files, fileHosts: fileHostsOf(registry).all }),
    shop: (hostName, accountId) => client(hostName, accountId).shop,
    async checkAccount(hostName, secret, options = {}) {
      const { source, address } = addressOf(hostName)
      const host = hostAt(address, async () => credentialOf(address.auth, secret), { shared: UNSHARED })
      return await clientAt({ source, address }, host, true).check(options)
    },
    close: () => egress.close(),
  }
}

const OF_ORGANIZATION = "the credentials of the organization's account; replace them with vendors.accounts.put"

/** Tokens of a secret that is not stored yet are not kept beyond its check. */
const UNSHARED: VendorTokens = { find: async () => null, claim: async () => true, store: async () => {}, release: async () => {} }

function requireInstallation({ hostName, credential }: HostAddress): Credential {
  if (credential) return credential
  throw new VendorError('unauthorized', hostName, `${hostName} can only be used with an account of the organization`)
}

interface ClientParts {
  readonly source: Source
  readonly address: HostAddress
  readonly products: readonly Product[]
  /** Whether the account is an organization's own. */
  readonly isOwnAccount: boolean
  readonly clock: Clock
}

/** The adapter of a protocol. */
function clientOf(host: Host, { source, address, products, isOwnAccount, clock }: ClientParts): Client {
  if (source.protocol === 'planet') {
    const itemTypes = source.collections.map(({ id }) => id)
    const items = createItems(host, itemTypes)
    return {
      catalog: createPlanetCatalog(host, { source, products, address, items }),
      shop: createPlanetShop(host, { products, items, isOwnAccount }),
      check: (options) => checkPlanetAccount(host, source, options),
    }
  }
  if (source.protocol === 'skyfi') {
    const archives = createArchives(host)
    return {
      catalog: createSkyfiCatalog(host, { source, products, address, archives }),
      shop: createSkyfiShop(host, { products, archives, clock }),
      check: (options) => checkSkyfiAccount(host, options),
    }
  }
  if (source.protocol === 'up42') {
    const glossary = createGlossary(host)
    const catalog = createUp42Catalog(host, { source, products, address, glossary })
    return {
      catalog,
      shop: createUp42Shop(host, { products, catalog, glossary }),
      check: (options) => checkUp42Account(host, { products, glossary }, options),
    }
  }
  if (source.protocol === 'umbra') {
    const { catalog, scenes } = createUmbraCatalog(host, { source, products, address })
    return {
      catalog,
      shop: createUmbraShop(host, { products, scenes, isOwnAccount }),
      check: (options) => checkUmbraAccount(host, options),
    }
  }
  if (source.protocol === 'stapi')
    return {
      catalog: createStapiCatalog(host),
      shop: createStapiShop(host, { products, downloadHosts: address.downloadHosts, isOwnAccount }),
      check: (options) => checkStapiAccount(host, products, options),
    }
  const catalog = createCatalog(host, { source, products, address })
  return {
    catalog,
    shop: source.protocol === 'sandbox' ? createSandboxShop(host, source, products) : null,
    async check(options) {
      await catalog.probe(options)
      return { detail: null }
    },
  }
}

const MAX_SCENES = 1_000
/** A scene can be published at any time, but every tile of a map asks again. */
const MISSING_MS = 60_000

/** Scenes stay known; that one is missing, for a minute; a failure, not at all. */
function createScenes(catalog: Vendors['catalog']): Vendors['scene'] {
  const scenes = new LRUCache<string, Promise<Scene | null>>({ max: MAX_SCENES })
  const missing = new LRUCache<string, true>({ max: MAX_SCENES, ttl: MISSING_MS })
  return (hostName, collectionId, id) => {
    const name = `${hostName}/${collectionId}/${id}`
    const known = scenes.get(name)
    if (known) return known
    if (missing.has(name)) return Promise.resolve(null)
    const scene = catalog(hostName)
      .search({ ids: [id], collections: [collectionId], limit: 1 })
      .then((page) => page.scenes[0] ?? null)
    scenes.set(name, scene)
    scene.then(
      (result) => {
        if (result) return
        scenes.delete(name)
        missing.set(name, true)
      },
      () => scenes.delete(name),
    )
    return scene
  }
}
