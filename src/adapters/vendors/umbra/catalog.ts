/** Umbra's archive: a STAC API of radar images, newest first. */
import { createCatalog } from '#adapters/vendors/catalog.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { fetchPreview } from '#adapters/vendors/preview.ts'
import type { HostAddress } from '#adapters/vendors/registry.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Scene, SceneSearch, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import { createScenes, type Scenes } from './scenes.ts'

const NEWEST_FIRST = { sortby: [{ field: 'properties.datetime', direction: 'desc' }] }

interface CatalogParts {
  readonly source: Source
  readonly products: readonly Product[]
  readonly address: HostAddress
}

export function createUmbraCatalog(host: Host, { source, products, address }: CatalogParts): { catalog: VendorCatalog; scenes: Scenes } {
  const stac = createCatalog(host, { source, products, address, more: NEWEST_FIRST })
  const product = products.find(({ type }) => type === 'ARCHIVE') ?? null
  const toScene = (scene: Scene): Scene => ({ ...scene, productId: collectOf(scene) === null ? null : (product?.id ?? null) })
  // Radar sees through clouds: a limit of the cloud cover excludes nothing.
  const search = async ({ cloudCover: _any, collections, ...query }: SceneSearch, options: CallOptions = {}) => {
    const page = await stac.search({ ...query, collections: collections ?? source.collections.map(({ id }) => id) }, options)
    return { ...page, scenes: page.scenes.map(toScene) }
  }
  const scenes = createScenes(search)
  const catalog: VendorCatalog = {
    async search(query, options) {
      const page = await search(query, options)
      scenes.keep(page.scenes)
      return page
    },
    probe: (options) => stac.probe(options),
    scene: async (id, options = {}) => (await scenes.find([id], options)).get(id) ?? null,
    read() {
      throw new VendorError('refused', host.name, `${host.name} has no files that can be read before they are ordered`)
    },
    // Where the image is follows from the ID; links of an item are not followed.
    preview: ({ id }, _kind, options = {}) => fetchPreview(host, `${host.url}/thumbnail/${encodeURIComponent(id)}`, () => true, options),
  }
  return { catalog, scenes }
}

/** What is ordered of a scene; null if Umbra does not say, or if it is a mosaic of several. */
export function collectOf({ properties }: Scene): string | null {
  const [one, many] = [properties['umbra:collect_id'], properties['umbra:collect_ids']]
  if (typeof one === 'string' && one !== '') return one
  const [first, second] = Array.isArray(many) ? (many as unknown[]) : []
  return typeof first === 'string' && second === undefined ? first : null
}
