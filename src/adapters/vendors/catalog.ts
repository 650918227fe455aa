/** Scene search of a host: STAC item search, which open hosts and the sandbox protocol share. */
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { FreeForm, Nullable } from '#core/shapes.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Scene, ScenePage, SceneSearch, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import type { Host } from './host.ts'
import type { HostAddress } from './registry.ts'
import { footprintFrom } from './shapes.ts'

const Link = Type.Object({
  rel: Type.String(),
  href: Type.String({ maxLength: 8_000 }),
  method: Type.Optional(Type.String()),
  body: Type.Optional(FreeForm),
  merge: Type.Optional(Type.Boolean()),
})

const Item = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 300 }),
  collection: Type.Optional(Nullable(Type.String({ maxLength: 300 }))),
  geometry: Nullable(Type.Object({ type: Type.String(), coordinates: Type.Array(Type.Unknown()) })),
  bbox: Type.Optional(Nullable(Type.Array(Type.Number(), { minItems: 4, maxItems: 6 }))),
  properties: FreeForm,
  links: Type.Optional(Type.Unknown()),
  assets: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        href: Type.String(),
        type: Type.Optional(Nullable(Type.String())),
        title: Type.Optional(Nullable(Type.String())),
        roles: Type.Optional(Nullable(Type.Array(Type.String()))),
      }),
    ),
  ),
})

const Page = Type.Object({ type: Type.Literal('FeatureCollection'), features: Type.Array(Item), links: Type.Optional(Type.Array(Link)) })

const page = Compile(Page)
const item = Compile(Item)

/** Maximum number of empty pages to skip in one search. */
const MAX_EMPTY_PAGES = 4
const PICTURE_TYPES = /^image\/(png|jpeg|webp)\b/
const MAX_PICTURE_BYTES = 8 * 1024 * 1024

interface CatalogParts {
  readonly source: Source
  readonly products: readonly Product[]
  readonly address: Pick<HostAddress, 'pageLimit' | 'filter' | 'rewrite'>
  /** Further fields of every search. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** Any small area: some hosts take seconds to search the whole world. */
const PROBED: [number, number, number, number] = [15, 50, 15.1, 50.1]

export function createCatalog(host: Host, { source, products, address, more = {} }: CatalogParts): VendorCatalog {
  const toScene = (feature: Static<typeof Item>): Scene => sceneOf(feature, source, products, address.rewrite)
  const search = async (query: SceneSearch, options: CallOptions): Promise<ScenePage> => {
    const body = { ...searchBody({ ...query, limit: Math.min(query.limit, address.pageLimit) }, address.filter), ...more }
    let cursor = query.cursor ?? null
    for (let empty = 0; ; empty++) {
      const { features, links = [] } = await ask(host, cursor, body, options)
      if (features.length > query.limit) throw invalidResponse(host, `${features.length} scenes for a limit of ${query.limit}`)
      const next = links.find(({ rel }) => rel === 'next')
      cursor = next ? JSON.stringify({ href: next.href, method: next.method, body: next.body, merge: next.merge }) : null
      const scenes = features.map(toScene).filter((scene) => matches(scene, query))
      if (scenes.length > 0 || cursor === null || empty >= MAX_EMPTY_PAGES) return { scenes, cursor }
    }
  }
  return {
    search: (query, options = {}) => search(query, options),
    async probe(options = {}) {
      await search({ collections: [source.collections[0]!.id], bbox: PROBED, limit: 1 }, options)
    },
    async scene(id, options = {}) {
      if (source.protocol !== 'sandbox') {
        const collections = source.collections.map((collection) => collection.id)
        return (await search({ ids: [id], collections, limit: 1 }, options)).scenes.find((scene) => scene.id === id) ?? null
      }
      const feature = await host.json({ path: `/scenes/${encodeURIComponent(id)}`, ...options })
      if (feature === null) return null
      if (!item.Check(feature)) throw invalidResponse(host, 'invalid scene')
      return toScene(feature)
    },
    read(href, options = {}) {
      const target = URL.parse(href)
      const base = new URL(host.url)
      if (target?.protocol !== base.protocol || target.host !== base.host || !target.pathname.startsWith(base.pathname))
        throw new VendorError('refused', host.name, `The file is not at ${host.name}`)
      return host.stream({ path: target.href.slice(host.url.length), ...options })
    },
    async preview({ assets }, kind, options = {}) {
      const asset = previewAsset(assets, kind)
      if (!asset) return null
      const answer = await host.send({ path: asset.href, maxBytes: MAX_PICTURE_BYTES, ...options })
      if (answer.status === 404) return null
      if (answer.status !== 200 || !PICTURE_TYPES.test(answer.contentType)) throw invalidResponse(host, 'the thumbnail is not an image')
      return { contentType: answer.contentType.split(';')[0]!, bytes: answer.body }
    },
  }
}

const invalidResponse = (host: Host, reason: string): VendorError =>
  new VendorError('invalid-response', host.name, `${host.name} returned an invalid response: ${reason}`)

function searchBody(
  { collections, ids, from, to, bbox, intersects, cloudCover, limit }: SceneSearch,
  filter: HostAddress['filter'],
): Record<string, unknown> {
  return {
    ...(collections?.length ? { collections } : {}),
    ...(ids ? { ids } : {}),
    ...(from || to ? { datetime: `${from?.toISOString() ?? '..'}/${to?.toISOString() ?? '..'}` } : {}),
    ...(bbox ? { bbox } : {}),
    ...(intersects ? { intersects } : {}),
    ...(cloudCover ? cloudFilter(cloudCover, filter) : {}),
    limit,
  }
}

const CQL2_OPERATORS = { LT: '<', LTE: '<=', GT: '>', GTE: '>=' } as const

/** Without a filter at the host, `matches` alone decides. */
function cloudFilter({ operator, percent }: NonNullable<SceneSearch['cloudCover']>, filter: HostAddress['filter']): object {
  if (filter === 'query') return { query: { 'eo:cloud_cover': { [operator.toLowerCase()]: percent } } }
  if (filter === 'none') return {}
  return { 'filter-lang': 'cql2-json', filter: { op: CQL2_OPERATORS[operator], args: [{ property: 'eo:cloud_cover' }, percent] } }
}

type Assets = Scene['assets']

/** By its usual name, or by its role; files that are no images or have no http address cannot be shown. */
function previewAsset(assets: Assets, kind: 'thumbnail' | 'overview'): Assets[string] | null {
  const names =
    kind === 'thumbnail' ? ['thumbnail', 'overview', 'rendered_preview'] : ['overview', 'rendered_preview', 'preview', 'thumbnail']
  const isShown = ({ type, href }: Assets[string]) => PICTURE_TYPES.test(type ?? '') && /^https?:/.test(href)
  const byName = names.flatMap((name) => (Object.hasOwn(assets, name) ? [assets[name]!] : []))
  const byRole = Object.values(assets).filter(({ roles }) => roles.includes(kind))
  return [...byName, ...byRole].find(isShown) ?? null
}

/** Fetches the first page, or the one that a link of the host names. Links to other hosts are not followed. */
async function ask(host: Host, cursor: string | null, body: Record<string, unknown>, options: CallOptions): Promise<Static<typeof Page>> {
  const request = cursor === null ? { method: 'POST' as const, path: '/search', body } : nextRequest(host, cursor, body)
  const response = await host.json({ ...request, isRepeatable: true, ...options })
  if (!page.Check(response)) throw invalidResponse(host, 'not a collection of scenes')
  return response
}

function nextRequest(host: Host, cursor: string, body: Record<string, unknown>): { method: 'GET' | 'POST'; path: string; body?: unknown } {
  const next = JSON.parse(cursor) as Partial<Static<typeof Link>>
  const target = URL.parse(next.href ?? '', `${host.url}/`)
  const base = new URL(host.url)
  if (!target || target.host !== base.host || target.protocol !== base.protocol || !target.pathname.startsWith(base.pathname))
    throw invalidResponse(host, 'the next page is at another host')
  const path = target.href.slice(host.url.length)
  if (next.method !== 'POST') return { method: 'GET', path }
  return { method: 'POST', path, body: next.merge === true ? { ...body, ...next.body } : (next.body ?? body) }
}

/** A host may not support the cloud cover filter, or ignore it. */
function matches({ cloudCover: cover, id }: Scene, { cloudCover, ids }: SceneSearch): boolean {
  if (ids && !ids.includes(id)) return false
  if (!cloudCover) return true
  if (cover === null) return false
  const { operator, percent } = cloudCover
  return operator === 'LT'
    ? cover < percent
    : operator === 'LTE'
      ? cover <= percent
      : operator === 'GT'
        ? cover > percent
        : cover >= percent
}

function sceneOf(
  { id, collection, geometry, bbox, properties, assets = {}, links }: Static<typeof Item>,
  source: Source,
  products: readonly Product[],
  rewrite: HostAddress['rewrite'],
): Scene {
  const { 'vendor:product': productName, ...rest } = properties
  const cover = rest['eo:cloud_cover']
  const datetime = rest['datetime'] ?? rest['start_datetime']
  const box =
    bbox?.length === 4
      ? (bbox as [number, number, number, number])
      : bbox?.length === 6
        ? ([bbox[0]!, bbox[1]!, bbox[3]!, bbox[4]!] as [number, number, number, number])
        : null
  return {
    id,
    collection: collection ?? source.collections[0]!.id,
    geometry: footprintFrom(geometry, box),
    bbox: box,
    datetime: typeof datetime === 'string' && !Number.isNaN(Date.parse(datetime)) ? new Date(datetime).toISOString() : null,
    cloudCover: typeof cover === 'number' && cover >= 0 && cover <= 100 ? cover : null,
    properties: rest,
    assets: Object.fromEntries(
      Object.entries(assets).map(([key, { href, type, title, roles, ...fields }]) => [
        key,
        { href: rewritten(href, rewrite), type: type ?? null, title: title ?? null, roles: roles ?? [], fields },
      ]),
    ),
    productId: products.find((product) => product.hostName === source.hostName && product.name === productName)?.id ?? null,
    url: linkOf(links, 'self'),
    licenseUrl: linkOf(links, 'license'),
  }
}

const MAX_LINK_LENGTH = 2_000

/** The first usable link with a relation. Only scenes that are saved need one, so a bad link does not make a scene invalid. */
function linkOf(links: unknown, rel: string): string | null {
  const hrefs = Array.isArray(links)
    ? links.flatMap((link: Record<string, unknown> | null) => (link?.['rel'] === rel ? [link['href']] : []))
    : []
  const isUsable = (href: unknown): href is string => typeof href === 'string' && href.length <= MAX_LINK_LENGTH && isPlainUrl(href)
  return hrefs.find(isUsable) ?? null
}

function isPlainUrl(href: string): boolean {
  const url = URL.parse(href)
  return url !== null && ['https:', 'http:'].includes(url.protocol) && url.username === '' && url.password === ''
}

/** The https address of a file in a public bucket. */
function rewritten(href: string, rewrite: HostAddress['rewrite']): string {
  const prefix = Object.keys(rewrite).find((each) => href.startsWith(each))
  return prefix === undefined ? href : `${rewrite[prefix]}${href.slice(prefix.length)}`
}
