/** Fields of catalogue searches, and scenes as they return them. */
import Type, { type Static } from 'typebox'
import { GeoJsonGeometry, GeoJsonPolygon } from '#core/geojson-shapes.ts'
import { Choice, Closed, Defaulted, Described, FreeForm, Nullable } from '#core/shapes.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import { DATA_TYPES, type Source } from '#ports/vendors/source.ts'
import { MAX_FILES } from '#services/scenes/open-scene.ts'
import { termsOf, termsProperties } from '#services/scenes/terms.ts'
import { Box } from '#wire/item.ts'

const STAC_VERSION = '1.0.0'
const MAX_IDS = 500
export const MAX_SEARCH_LIMIT = 500

export const HostName = Type.String({ minLength: 1, maxLength: 100, description: 'Host name from `catalog.vendors.list`' })
export const SceneId = Type.String({ minLength: 1, maxLength: 300, description: 'Scene ID from a search' })

/** Of a scene that is saved. */
export const SceneAssets = Type.Optional(
  Nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      minItems: 1,
      maxItems: MAX_FILES,
      uniqueItems: true,
      description: 'Asset keys of the rasters to save; all by default',
    }),
  ),
)

const Name = Type.String({ minLength: 1, maxLength: 300 })
const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema))

export const filterFields = {
  collections: optional(Type.Array(Name, { maxItems: 100, description: 'Only scenes of these collections' })),
  ids: optional(Type.Array(Name, { maxItems: MAX_IDS, description: 'Only these scenes' })),
  datetime: optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Time or interval `start/end`; `..` leaves an end open; a date means the whole day',
    }),
  ),
  query: optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Conditions on `cloudCoverage` in percent: `GTE`, `LTE`, `GT` or `LT`',
    }),
  ),
  bbox: optional(
    Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Bounding box as west, south, east, north in degrees; excludes `intersects`',
    }),
  ),
  intersects: optional(Described(GeoJsonPolygon, 'Area to search: GeoJSON Polygon with at most 999 vertices and about 50,000 km²')),
  full_catalog: optional(Type.Boolean({ description: 'Whether to search all collections of the host, not only registered ones' })),
}

export const searchLimit = (maximum: number) =>
  Defaulted(Type.Integer({ minimum: 1, maximum }), 100, { description: 'Maximum number of scenes to return' })

const Filters = Closed(filterFields)
export type FilterFields = Static<typeof Filters>

export const sourceFields = {
  source_ids: optional(Type.Array(Name, { maxItems: 500, description: 'Only these sources' })),
  data_types: optional(Type.Array(Choice(DATA_TYPES), { maxItems: 20, description: 'Only collections with these types of data' })),
}

const Link = Type.Object(
  {
    rel: Type.String({ description: 'Link relation' }),
    href: Type.String({ description: 'Link URL' }),
    type: Described(Type.Optional(Type.String()), 'Media type of the linked resource'),
    method: Described(Type.Optional(Type.String()), 'HTTP method of the link'),
    body: Described(Type.Optional(FreeForm), 'Request body to send with the link'),
  },
  { additionalProperties: true, $id: 'CatalogLink', description: 'A link to a related resource' },
)

export const SceneFeature = Closed(
  {
    type: Type.Literal('Feature', { description: 'GeoJSON type, always `Feature`' }),
    stac_version: Type.Literal(STAC_VERSION, { description: 'STAC version' }),
    id: Type.String({ description: 'Scene ID' }),
    collection: Type.String({ description: 'Collection name' }),
    geometry: Described(Nullable(GeoJsonGeometry), 'Scene footprint; null if unknown'),
    bbox: Described(Type.Optional(Box), 'Bounding box as west, south, east, north in degrees'),
    properties: Type.Unsafe<Record<string, unknown>>({
      ...FreeForm,
      description:
        'STAC properties and `simulated`. Open scenes have `license`, `attribution` and the name and URL of the licence as ' +
        '`svc:license_name` and `svc:license_url`; scenes for sale add `dataProduct` and, unless the vendor estimates each order ' +
        'separately, `pricePerSqKm`, `creditsPerSqKm` and `pricingResolution`, or `priceError`, which says why the price is not known',
    }),
    assets: Type.Unsafe<Record<string, Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      description: 'Freely readable files; empty for scenes for sale',
    }),
    links: Type.Array(Link, { description: 'Links to previews, thumbnails and the licence; `xyz` is a URL template of map tiles' }),
  },
  { $id: 'CatalogScene', description: 'A scene in an external catalog, as a STAC item' },
)

export type Feature = Static<typeof SceneFeature>

export const SceneCollection = Closed({
  type: Type.Literal('FeatureCollection', { description: 'GeoJSON type, always `FeatureCollection`' }),
  features: Type.Array(SceneFeature, { description: 'Scenes found, as GeoJSON features' }),
  numberReturned: Type.Integer({ description: 'Number of features returned' }),
  links: Type.Array(Link, { description: 'Links; `next` leads to the next page and is absent on the last' }),
})

export function toFeature(scene: Scene, source: Source, baseUrl: string, extra: Record<string, unknown>): Feature {
  const { hostName, simulated } = source
  const isOpen = scene.productId === null
  const terms = isOpen ? termsOf(source, scene) : null
  const previewLink = (rel: string, name: string) => ({
    rel,
    href: `${baseUrl}/api/v1/catalog/${hostName}/${encodeURIComponent(scene.id)}/${name}`,
    type: 'image/png',
  })
  return {
    type: 'Feature',
    stac_version: STAC_VERSION,
    id: scene.id,
    collection: scene.collection,
    geometry: scene.geometry as Record<string, unknown> | null,
    ...(scene.bbox ? { bbox: [...scene.bbox] } : {}),
    properties: { ...scene.properties, datetime: scene.datetime, ...(terms && termsProperties(terms)), hostName, simulated, ...extra },
    assets: isOpen ? openAssets(scene) : {},
    links: [
      ...(hasPreview(scene) ? [previewLink('thumbnail', 'thumbnail'), previewLink('preview', 'quicklook')] : []),
      ...(hasTiles(scene, source) ? [tilesLink(scene, hostName, baseUrl)] : []),
      ...(terms?.url ? [{ rel: 'license', href: terms.url, ...(terms.name === null ? {} : { title: terms.name }) }] : []),
    ],
  }
}

const hasPreview = ({ assets }: Scene): boolean =>
  Object.values(assets).some(({ type, href }) => type?.startsWith('image/') && !type.startsWith('image/tiff') && /^https?:/.test(href))

/** Open imagery with a file for at least one band can be shown on a map at once. */
function hasTiles({ collection, assets }: Scene, { accessModel, collections }: Source): boolean {
  const known = collections.find(({ id }) => id === collection)
  return accessModel === 'open' && known?.renderStrategy === 'cog' && known.assets.some((key) => Object.hasOwn(assets, key))
}

/** A template, as in the STAC extension for web map links; `visualization` can be added. */
const tilesLink = ({ collection, id }: Scene, hostName: string, baseUrl: string) => ({
  rel: 'xyz',
  href: `${baseUrl}/api/v1/catalog/${encodeURIComponent(collection)}/${encodeURIComponent(id)}/tiles/{z}/{x}/{y}.webp?provider=${hostName}`,
  type: 'image/webp',
})

const openAssets = ({ assets }: Scene) =>
  Object.fromEntries(
    Object.entries(assets).map(([key, { href, type, title, roles, fields }]) => [
      key,
      { ...fields, href, ...(type ? { type } : {}), ...(title ? { title } : {}), roles: [...roles] },
    ]),
  )

export const EXAMPLE_FEATURE: Feature = {
  type: 'Feature',
  stac_version: STAC_VERSION,
  id: 'sandbox-hr_20260228_r347c1926',
  collection: 'sandbox-hr',
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [151.1, -33.9],
        [151.3, -33.9],
        [151.3, -33.7],
        [151.1, -33.7],
        [151.1, -33.9],
      ],
    ],
  },
  bbox: [151.1, -33.9, 151.3, -33.7],
  properties: {
    datetime: '2026-02-14T00:12:44.000Z',
    'eo:cloud_cover': 4.2,
    gsd: 3,
    hostName: 'sandbox-hr',
    simulated: true,
    dataProduct: '0199f2d9-0000-7000-8000-000000000002',
    pricePerSqKm: 3.1,
    creditsPerSqKm: 310,
    pricingResolution: 'HR 3 m',
  },
  assets: {},
  links: [
    {
      rel: 'preview',
      href: 'https://imagery.example/api/v1/catalog/sandbox-hr/sandbox-hr_20260228_r347c1926/quicklook',
      type: 'image/png',
    },
  ],
}
