/** A STAPI server has no archive: a search finds nothing. */
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { ask, schemas } from './wire.ts'

export const createStapiCatalog = (host: Host): VendorCatalog => ({
  search: async () => ({ scenes: [], cursor: null }),
  async probe(options = {}) {
    const products = await ask(host, schemas.products, { path: '/products?limit=1', ...options }, 'list of products')
    if (!products) throw new VendorError('invalid-response', host.name, `${host.name} has no list of products`)
  },
  scene: async () => null,
  preview: async () => null,
  read() {
    throw new VendorError('refused', host.name, `${host.name} has no files that can be read before they are ordered`)
  },
})
