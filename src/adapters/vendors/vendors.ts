/** Clients of all vendors in the registry. */
import { LRUCache } from 'lru-cache'
import { createEgress } from '#adapters/egress/guard.ts'
import { VendorError, type Scene, type VendorCatalog, type Vendors, type VendorShop } from '#ports/vendors.ts'
import { createCatalog } from './catalog.ts'
import { createHost } from './host.ts'
import type { Registry } from './registry.ts'
import { createShop } from './shop.ts'

interface Client {
  catalog: VendorCatalog
  shop: VendorShop | null
}

interface VendorsOptions {
  registry: Registry
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

export function createVendors({ registry, egressAllow, deadlineFactor = 1 }: VendorsOptions): Vendors {
  const { sources, products, licences, providers, hosts } = registry
  const egress = createEgress({ allow: [...egressAllow, ...fileHostsOf(registry).sandbox] })
  const clients = new Map<string, Client>()
  for (const source of sources) {
    const host = createHost(
      egress,
      hosts.find(({ hostName }) => hostName === source.hostName)!,
      deadlineFactor,
    )
    clients.set(source.hostName, {
      catalog: createCatalog(host, source, products),
      shop: source.protocol === 'commercial' ? createShop(host, source, products) : null,
    })
  }
  const clientOf = (hostName: string): Client => {
    const client = clients.get(hostName)
    if (!client) throw new VendorError('not-found', hostName, `Unknown host '${hostName}'`)
    return client
  }
  return {
    sources,
    products,
    licences,
    providers,
    source: (hostName) => sources.find((source) => source.hostName === hostName) ?? null,
    product: (idOrName) => products.find(({ id, name }) => id === idOrName || name === idOrName) ?? null,
    licence: (licenceId) => licences.find(({ id }) => id === licenceId) ?? null,
    catalog: (hostName) => clientOf(hostName).catalog,
    scene: createScenes((hostName) => clientOf(hostName).catalog),
    shop: (hostName) => clientOf(hostName).shop,
    close: () => egress.close(),
  }
}

const MAX_SCENES = 1_000

/** Only what was found stays known: a host may have failed, and a scene may come. */
function createScenes(catalog: Vendors['catalog']): Vendors['scene'] {
  const scenes = new LRUCache<string, Promise<Scene | null>>({ max: MAX_SCENES })
  return (hostName, collectionId, id) => {
    const name = `${hostName}/${collectionId}/${id}`
    const known = scenes.get(name)
    if (known) return known
    const scene = catalog(hostName)
      .search({ ids: [id], collections: [collectionId], limit: 1 })
      .then((page) => page.scenes[0] ?? null)
    scenes.set(name, scene)
    scene.then(
      (result) => result ?? scenes.delete(name),
      () => scenes.delete(name),
    )
    return scene
  }
}
