/** UP42's storage as a STAC API: a collection for each archive, with an item and its files. */
import type { PlacedOrder, Up42Simulator } from './simulator.ts'
import { collectionOf } from './glossary.ts'

export const STAC = '/v2/assets/stac'
const VERSION = '1.0.0'
const API = 'https://api.stacspec.org/v1.0.0'
export const CONFORMANCE = [
  `${API}/core`,
  `${API}/collections`,
  `${API}/ogcapi-features`,
  `${API}/item-search`,
  `${API}/item-search#filter`,
  'http://www.opengis.net/spec/cql2/1.0/conf/cql2-json',
  'http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2',
]

const link = (rel: string, href: string, more: object = {}) => ({ rel, href, type: 'application/json', ...more })

export const landing = (base: string) => ({
  type: 'Catalog',
  stac_version: VERSION,
  id: 'up42-storage',
  title: 'UP42 Storage',
  description: 'UP42 Storage STAC API',
  conformsTo: CONFORMANCE,
  links: [
    link('self', `${base}${STAC}/`),
    link('root', `${base}${STAC}/`),
    link('conformance', `${base}${STAC}/conformance`),
    link('data', `${base}${STAC}/collections`),
    link('search', `${base}${STAC}/search`, { method: 'POST', type: 'application/geo+json' }),
  ],
})

/** Orders whose archives were taken apart. */
export async function stored(simulator: Up42Simulator): Promise<PlacedOrder[]> {
  const states = await Promise.all(simulator.orders.map((order) => simulator.extraction(order)))
  return simulator.orders.filter((_order, index) => states[index] === 'SUCCESSFUL')
}

export function collectionDocument({ base }: Up42Simulator, order: PlacedOrder) {
  const self = `${base}${STAC}/collections/${order.ids.collection}`
  return {
    type: 'Collection',
    stac_version: VERSION,
    id: order.ids.collection,
    title: order.displayName,
    description: 'An archive in the storage',
    license: 'proprietary',
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[order.createdAt.toISOString(), null]] } },
    'up42-system:asset_id': order.ids.archive,
    'up42-order:id': order.id,
    links: [link('self', self), link('root', `${base}${STAC}/`), link('items', `${self}/items`)],
    assets: {
      archive: { href: `${base}/v2/assets/${order.ids.archive}`, type: 'application/zip', roles: ['original'] },
    },
  }
}

export async function itemDocument(simulator: Up42Simulator, order: PlacedOrder) {
  const { base, accountId, workspaceId } = simulator
  const scene = simulator.shownIn(order)
  const { image, mask } = await simulator.checksums(order)
  const collection = `${base}${STAC}/collections/${order.ids.collection}`
  const { name, title } = collectionOf(order.productId)!
  const file = ({ size, checksum }: { size: number; checksum: string }) => ({ 'file:size': size, 'file:checksum': checksum })
  return {
    type: 'Feature',
    stac_version: VERSION,
    stac_extensions: [
      'https://stac-extensions.github.io/eo/v1.0.0/schema.json',
      'https://stac-extensions.github.io/file/v2.1.0/schema.json',
    ],
    id: order.ids.item,
    collection: order.ids.collection,
    geometry: scene.footprint,
    bbox: scene.bbox,
    properties: {
      datetime: scene.datetime,
      gsd: scene.gsdM,
      title: `${title} of ${scene.datetime}`,
      constellation: name,
      'eo:cloud_cover': scene.cloudCover,
      'up42-order:id': order.id,
      'up42-product:product_id': order.productId,
      'up42-product:collection_name': name,
      'up42-product:modality': 'multispectral',
      'up42-system:asset_id': order.ids.archive,
      'up42-system:account_id': accountId,
      'up42-system:workspace_id': workspaceId,
      'up42-system:source': order.type,
    },
    links: [
      link('self', `${collection}/items/${order.ids.item}`, { type: 'application/geo+json' }),
      link('parent', collection),
      link('collection', collection),
      link('root', `${base}${STAC}/`),
    ],
    assets: {
      'multispectral.tiff': {
        href: `${base}/v2/assets/${order.ids.image}`,
        title: 'Multispectral data',
        type: 'image/tiff; application=geotiff; profile=cloud-optimized',
        roles: ['data', 'multispectral'],
        'eo:bands': scene.bands.map((band) => ({ name: band.name, common_name: band.name })),
        ...file(image),
      },
      'cloud.geojson': {
        href: `${base}/v2/assets/${order.ids.mask}`,
        title: 'Clouds',
        type: 'application/geo+json',
        roles: ['metadata', 'cloud'],
        ...file(mask),
      },
      'original.zip': { href: `${base}/v2/assets/${order.ids.archive}`, type: 'application/zip', roles: ['data'] },
    },
  }
}
