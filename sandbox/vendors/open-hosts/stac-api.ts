/** The STAC API of a simulated open host: landing page, collections, items and item search with the host's own kind of pages. */
import type { FastifyInstance } from 'fastify'
import type { SceneDescription } from '../../scenes/index.ts'
import type { Library } from '../library.ts'
import { parseSearch, Refusal, tokenOf, type SearchBody } from '../search.ts'
import { itemId, sceneIdOf, type Product } from './product.ts'

export interface StacApi {
  readonly prefix: string
  readonly title: string
  readonly stacVersion: string
  readonly products: readonly Product[]
  readonly maxLimit: number
  /** The field of a search that continues it, and what its value looks like. */
  readonly cursor: { readonly field: 'next' | 'token'; readonly prefix: string }
}

interface ApiParts {
  readonly libraryOf: (product: Product) => Library
  /** URL of all simulated hosts. */
  readonly base: () => string
}

export function serveStacApi(app: FastifyInstance, api: StacApi, { libraryOf, base }: ApiParts): void {
  const { prefix, title, stacVersion, products, maxLimit, cursor } = api
  const root = () => `${base()}${prefix}`
  const licenseLinks = ({ licenseUrl }: Product) => (licenseUrl ? [{ rel: 'license', href: licenseUrl }] : [])
  const feature = (product: Product, scene: SceneDescription) => {
    const id = itemId(product, scene)
    const { collection } = product
    return {
      type: 'Feature',
      stac_version: stacVersion,
      id,
      collection,
      geometry: scene.footprint,
      bbox: scene.bbox,
      ...product.itemOf(scene, id, base()),
      links: [
        { rel: 'self', href: `${root()}/collections/${collection}/items/${id}`, type: 'application/geo+json' },
        { rel: 'collection', href: `${root()}/collections/${collection}`, type: 'application/json' },
        { rel: 'root', href: root(), type: 'application/json' },
        ...licenseLinks(product),
      ],
    }
  }
  const collectionOf = (product: Product) => ({
    type: 'Collection',
    stac_version: stacVersion,
    id: product.collection,
    title: product.title,
    description: product.title,
    license: 'proprietary',
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [{ rel: 'self', href: `${root()}/collections/${product.collection}` }, ...licenseLinks(product)],
  })
  const landing = async () => ({
    type: 'Catalog',
    stac_version: stacVersion,
    id: title,
    title,
    description: title,
    conformsTo: ['core', 'collections', 'item-search', 'item-search#query'].map((name) => `https://api.stacspec.org/v1.0.0/${name}`),
    links: [
      { rel: 'self', href: root(), type: 'application/json' },
      { rel: 'root', href: root(), type: 'application/json' },
      { rel: 'data', href: `${root()}/collections`, type: 'application/json' },
      { rel: 'search', href: `${root()}/search`, method: 'POST', type: 'application/geo+json' },
    ],
  })
  app.get(prefix, landing)
  app.get(`${prefix}/`, landing)
  app.get(`${prefix}/collections`, async () => ({ collections: products.map(collectionOf), links: [] }))
  app.post<{ Body: SearchBody & Record<string, unknown> }>(`${prefix}/search`, async ({ body }) => {
    const { scenes, next } = await page(body, products, { libraryOf, cursor, maxLimit })
    const link = { rel: 'next', href: `${root()}/search`, method: 'POST', type: 'application/geo+json', merge: false }
    return {
      type: 'FeatureCollection',
      features: scenes.map(({ product, scene }) => feature(product, scene)),
      links: next === null ? [] : [{ ...link, body: { ...body, [cursor.field]: next } }],
    }
  })
  app.get<{ Params: { collection: string; id: string } }>(`${prefix}/collections/:collection/items/:id`, async ({ params }) => {
    const product = products.find(({ collection }) => collection === params.collection)
    const inner = product && sceneIdOf(product, params.id)
    const scene = product && inner ? libraryOf(product).scene(inner) : null
    if (!product || !scene) throw new Refusal('No such item', 404)
    return feature(product, scene)
  })
}

/** One collection after another: the cursor says in which the next page begins, and where. */
async function page(
  body: SearchBody & Record<string, unknown>,
  products: readonly Product[],
  { libraryOf, cursor, maxLimit }: Pick<StacApi, 'cursor' | 'maxLimit'> & Pick<ApiParts, 'libraryOf'>,
) {
  const given = body[cursor.field]
  const [, first = '', place] = new RegExp(`^${cursor.prefix}([a-z0-9-]+):(.*)$`).exec(typeof given === 'string' ? given : '') ?? []
  const { collections, ids, limit: wanted, ...query } = parseSearch({ ...body, ...(place ? { token: place } : { token: undefined }) })
  const limit = Math.min(wanted, maxLimit)
  const searched = products.filter(({ collection }) => collections === null || collections.includes(collection))
  const from = Math.max(
    0,
    searched.findIndex(({ collection }) => collection === first),
  )
  const scenes: { product: Product; scene: SceneDescription }[] = []
  for (const [index, product] of searched.slice(from).entries()) {
    const { after, ...rest } = query
    const inner = ids?.flatMap((id) => sceneIdOf(product, id) ?? [])
    const found = await libraryOf(product).search({
      ...rest,
      ...(inner ? { ids: inner } : {}),
      ...(after && index === 0 ? { after } : {}),
      limit: limit - scenes.length,
    })
    scenes.push(...found.scenes.map((scene) => ({ product, scene })))
    if (found.next) return { scenes, next: `${cursor.prefix}${product.collection}:${tokenOf(found.next)}` }
  }
  return { scenes, next: null }
}
