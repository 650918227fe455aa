/** The vendors of a registry, ready to be asked. */
import { VendorError, type VendorCatalog, type Vendors, type VendorShop } from '#ports/vendors.ts'
import type { Registry } from './registry.ts'

interface Client {
  catalog: VendorCatalog
  shop: VendorShop | null
}

export function createVendors({ registry }: { registry: Registry }): Vendors {
  const { sources, products, licences, providers } = registry
  const clients = new Map<string, Client>()
  const clientOf = (hostName: string): Client => {
    const client = clients.get(hostName)
    if (!client) throw new VendorError('not-found', hostName, `There is no host '${hostName}'`)
    return client
  }
  return {
    sources,
    products,
    licences,
    providers,
    source: (hostName) => sources.find((source) => source.hostName === hostName) ?? null,
    product: (idOrName) => products.find(({ id, name }) => id === idOrName || name === idOrName) ?? null,
    licence: (wanted) => licences.find(({ id }) => id === wanted) ?? null,
    catalog: (hostName) => clientOf(hostName).catalog,
    shop: (hostName) => clientOf(hostName).shop,
    close: async () => {},
  }
}
