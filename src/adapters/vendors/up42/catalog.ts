/** Search of UP42's catalogue. Each of its hosts is searched by itself; a search goes from one to the next. */
import { LRUCache } from 'lru-cache'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Nullable } from '#core/shapes.ts'
import { convexHull } from '#core/wkt.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Scene, ScenePage, SceneSearch, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import { hasWantedClouds } from '#adapters/vendors/cloud-cover.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { fetchPreview } from '#adapters/vendors/preview.ts'
import type { HostAddress } from '#adapters/vendors/registry.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { footprintFrom } from '#adapters/vendors/shapes.ts'
import type { Glossary, SearchHost } from './glossary.ts'
import { schemas, type FoundScene } from './wire.ts'

const MAX_PAGE_SIZE = 500
/** Pages without a scene that one search skips. */
const MAX_EMPTY_PAGES = 4
/** Scenes that one search looks up by their IDs. */
const MAX_IDS = 20
const MAX_SCENES = 2_000
/** Scenes are not changed, but can be withdrawn. */
const FRESH_MS = 60 * 60_000
/** Any small area. */
const PROBED: [number, number, number, number] = [15, 50, 15.1, 50.1]

/** Where a search continues: a page of one of UP42's hosts, and the scenes of it that were shown already. */
const Place = Type.Object({ host: Type.String(), next: Nullable(Type.String()), skip: Type.Integer({ minimum: 0 }) })
type Place = Static<typeof Place>
const place = Compile(Place)

interface CatalogParts {
  readonly source: Source
  readonly products: readonly Product[]
  readonly address: Pick<HostAddress, 'pageLimit'>
  readonly glossary: Glossary
}

export const createUp42Catalog = (host: Host, parts: CatalogParts): VendorCatalog => new Catalog(host, parts)

class Catalog implements VendorCatalog {
  readonly #host: Host
  readonly #parts: CatalogParts
  readonly #known = new LRUCache<string, Scene>({ max: MAX_SCENES, ttl: FRESH_MS })

  constructor(host: Host, parts: CatalogParts) {
    this.#host = host
    this.#parts = parts
  }

  async search(query: SceneSearch, options: CallOptions = {}): Promise<ScenePage> {
    const hosts = await this.#hosts(query.collections, options)
    let at: Place | null = query.cursor == null ? firstOf(hosts[0]!) : this.#placeIn(hosts, query.cursor)
    for (let pages = 1; at !== null; pages++) {
      const { scenes, next }: { scenes: Scene[]; next: Place | null } = await this.#page(hosts, at, query, options)
      at = next
      if (scenes.length > 0 || pages >= MAX_EMPTY_PAGES) return { scenes, cursor: at && JSON.stringify(at) }
    }
    return { scenes: [], cursor: null }
  }

  async probe(options: CallOptions = {}): Promise<void> {
    await this.search({ bbox: PROBED, limit: 1 }, options)
  }

  async scene(id: string, options: CallOptions = {}): Promise<Scene | null> {
    const known = this.#known.get(id)
    if (known) return known
    const hosts = await this.#hosts(undefined, options)
    for (const each of hosts) {
      const { scenes } = await this.#page(hosts, firstOf(each), { ids: [id], limit: 1 }, options)
      const found = scenes.find((scene) => scene.id === id)
      if (found) return found
    }
    return null
  }

  async preview({ assets }: Scene, kind: 'thumbnail' | 'overview', options: CallOptions = {}) {
    return await fetchPreview(this.#host, assets[kind]?.href, ({ href }) => href.startsWith(`${this.#host.url}/`), options)
  }

  read(): never {
    throw new VendorError('refused', this.#host.name, `${this.#host.name} has no files that can be read before they are ordered`)
  }

  /** UP42's hosts of our collections. */
  async #hosts(collections: readonly string[] | undefined, options: CallOptions): Promise<readonly SearchHost[]> {
    const ours = this.#parts.source.collections.map(({ id }) => id)
    const wanted = collections?.length ? ours.filter((id) => collections.includes(id)) : ours
    const hosts = await this.#parts.glossary.searchHosts(wanted, options)
    if (hosts.length > 0) return hosts
    throw new VendorError('refused', this.#host.name, `${this.#host.name} offers none of these collections to the account`)
  }

  async #page(hosts: readonly SearchHost[], at: Place, query: SceneSearch, options: CallOptions) {
    const index = hosts.findIndex(({ name }) => name === at.host)
    const { name, collections } = hosts[index]!
    const limit = Math.min(query.limit, this.#parts.address.pageLimit, MAX_PAGE_SIZE)
    const path = at.next === null ? `/catalog/hosts/${encodeURIComponent(name)}/stac/search` : this.#pathOf(at.next)
    const body = { ...this.#bodyOf(query), collections, limit }
    const request = { method: 'POST' as const, path, body, isRepeatable: true, ...options }
    const { features, links = [] } = await requireAnswer(this.#host, schemas.scenes, request, 'list of scenes')
    const shown = features.slice(at.skip, at.skip + limit)
    const href = links.find(({ rel }) => rel === 'next')?.href
    const following = hosts[index + 1]
    const next = ((): Place | null => {
      if (features.length > at.skip + limit) return { ...at, skip: at.skip + limit }
      if (href !== undefined) return { host: name, next: href, skip: 0 }
      return following ? firstOf(following) : null
    })()
    const scenes = shown.flatMap((feature) => this.#toScene(feature, name) ?? [])
    for (const scene of scenes) this.#known.set(scene.id, scene)
    return { scenes: scenes.filter((scene) => matches(scene, query)), next }
  }

  #bodyOf({ ids, from, to, bbox, intersects, cloudCover }: SceneSearch): Record<string, unknown> {
    if (bbox && bbox[0] > bbox[2])
      throw new VendorError('refused', this.#host.name, `${this.#host.name} cannot be searched across the antimeridian`)
    return {
      ...(ids ? { ids: ids.slice(0, MAX_IDS) } : {}),
      ...(from || to ? { datetime: `${secondsOf(from)}/${secondsOf(to)}` } : {}),
      ...(bbox ? { bbox } : {}),
      // One polygon is searched; around several, their convex hull.
      ...(intersects
        ? { intersects: intersects.type === 'Polygon' ? intersects : { type: 'Polygon', coordinates: [convexHull(intersects)] } }
        : {}),
      ...(cloudCover ? { query: { cloudCoverage: { [cloudCover.operator]: cloudCover.percent } } } : {}),
    }
  }

  /** Only the path of a link is used: it must be below the API. */
  #pathOf(href: string): string {
    const target = URL.parse(href, `${this.#host.url}/`)
    if (!target?.href.startsWith(`${this.#host.url}/catalog/`)) throw this.#invalid('a next page at another host')
    return target.href.slice(this.#host.url.length)
  }

  #placeIn(hosts: readonly SearchHost[], cursor: string): Place {
    const value = parsed(cursor)
    if (place.Check(value) && hosts.some(({ name }) => name === value.host)) return value
    throw new VendorError('refused', this.#host.name, `${this.#host.name} does not know the next page any more; search again`)
  }

  /** Null for a collection that the registry does not list. */
  #toScene({ geometry, bbox, properties }: FoundScene, hostName: string): Scene | null {
    const { source, products } = this.#parts
    const { id, collection, constellation, producer, cloudCoverage, resolution, deliveryTime } = properties
    if (!source.collections.some((each) => each.id === collection)) return null
    const box = bbox?.length === 4 ? (bbox as [number, number, number, number]) : null
    const cover = cloudCoverage != null && cloudCoverage >= 0 && cloudCoverage <= 100 ? cloudCoverage : null
    const at = Date.parse(properties.datetime ?? properties.start_datetime ?? '')
    const picture = (role: string) => ({
      href: `${this.#host.url}/catalog/${encodeURIComponent(hostName)}/image/${encodeURIComponent(id)}/quicklook`,
      type: 'image/jpeg',
      title: null,
      roles: [role],
      fields: {},
    })
    return {
      id,
      collection,
      geometry: footprintFrom(geometry, box),
      bbox: box,
      datetime: Number.isNaN(at) ? null : new Date(at).toISOString(),
      cloudCover: cover,
      properties: {
        ...(constellation ? { platform: constellation, constellation } : {}),
        ...(resolution == null ? {} : { gsd: resolution }),
        ...(cover === null ? {} : { 'eo:cloud_cover': cover }),
        ...(producer ? { 'up42:producer': producer } : {}),
        ...(deliveryTime ? { 'up42:delivery_time': deliveryTime } : {}),
        'up42:host': hostName,
      },
      assets: { thumbnail: picture('thumbnail'), overview: picture('overview') },
      productId: products.find((product) => product.type === 'ARCHIVE' && product.collection === collection)?.id ?? null,
      url: null,
      licenseUrl: null,
    }
  }

  #invalid(what: string): VendorError {
    return new VendorError('invalid-response', this.#host.name, `${this.#host.name} returned ${what}`)
  }
}

const firstOf = ({ name }: SearchHost): Place => ({ host: name, next: null, skip: 0 })

/** RFC 3339 without fractions of seconds. */
const secondsOf = (date: Date | null | undefined): string => date?.toISOString().replace(/\.\d+Z$/, 'Z') ?? '..'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A host may ignore filters that its producer does not support. */
const matches = ({ id, cloudCover: cover }: Scene, { ids, cloudCover }: SceneSearch): boolean =>
  (!ids || ids.includes(id)) && hasWantedClouds(cover, cloudCover)
