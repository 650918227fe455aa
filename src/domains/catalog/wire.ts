/** The fields of catalogue searches, and scenes as they answer with them. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, Defaulted, FreeForm, Nullable } from '#core/shapes.ts'
import { DATA_TYPES, type Scene } from '#ports/vendors.ts'
import { Box } from '#wire/item.ts'

const STAC_VERSION = '1.0.0'
const MAX_IDS = 500
export const MAX_SEARCH_LIMIT = 500

export const HostName = Type.String({ minLength: 1, maxLength: 100, description: 'Name of a host, as `catalog.vendors.list` gives it' })
export const SceneId = Type.String({ minLength: 1, maxLength: 300, description: 'Id of a scene, as searches give it' })

const Name = Type.String({ minLength: 1, maxLength: 300 })
const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema))

export const filterFields = {
  collections: optional(Type.Array(Name, { maxItems: 100, description: 'Only scenes of these collections' })),
  ids: optional(Type.Array(Name, { maxItems: MAX_IDS, description: 'Only these scenes' })),
  datetime: optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'An instant, or start/end of which one may be `..`; a date means the whole day',
    }),
  ),
  query: optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: '`cloudCoverage` with one of GTE, LTE, GT or LT and a percentage',
    }),
  ),
  bbox: optional(
    Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'West, south, east, north; not together with `intersects`' }),
  ),
  intersects: optional(
    Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'GeoJSON Polygon of at most 999 vertices and about 50,000 km²' }),
  ),
  full_catalog: optional(Type.Boolean({ description: 'All collections that the host has, and not only those of the registry' })),
}

export const searchLimit = (maximum: number) => Defaulted(Type.Integer({ minimum: 1, maximum }), 100, { description: 'Scenes at most' })

const Filters = Closed(filterFields)
export type FilterFields = Static<typeof Filters>

export const sourceFields = {
  source_ids: optional(Type.Array(Name, { maxItems: 500, description: 'Only these sources' })),
  data_types: optional(Type.Array(Choice(DATA_TYPES), { maxItems: 20, description: 'Only collections of this kind of data' })),
}

const Link = Type.Object(
  {
    rel: Type.String(),
    href: Type.String(),
    type: Type.Optional(Type.String()),
    method: Type.Optional(Type.String()),
    body: Type.Optional(FreeForm),
  },
  { additionalProperties: true },
)

export const SceneFeature = Closed(
  {
    type: Type.Literal('Feature'),
    stac_version: Type.Literal(STAC_VERSION),
    id: Type.String(),
    collection: Type.String(),
    geometry: Nullable(FreeForm),
    bbox: Type.Optional(Box),
    properties: Type.Unsafe<Record<string, unknown>>({
      ...FreeForm,
      description: "The host's own, and for scenes that are sold `pricePerSqKm`, `creditsPerSqKm`, `pricingResolution` and `dataProduct`",
    }),
    assets: Type.Unsafe<Record<string, Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      description: 'Files that are free to read; none of scenes that are sold',
    }),
    links: Type.Array(Link, { description: 'Where its pictures are' }),
  },
  { $id: 'CatalogScene' },
)

export type Feature = Static<typeof SceneFeature>

export const SceneCollection = Closed({
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(SceneFeature),
  numberReturned: Type.Integer(),
  links: Type.Array(Link, { description: 'A link of rel `next` leads to the next page; without one this is the last' }),
})

export function toFeature(scene: Scene, hostName: string, baseUrl: string, more: Record<string, unknown>): Feature {
  const picture = (rel: string, name: string) => ({
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
    properties: { ...scene.properties, datetime: scene.datetime, hostName, ...more },
    assets: scene.productId === null ? openAssets(scene) : {},
    links: hasPicture(scene) ? [picture('thumbnail', 'thumbnail'), picture('preview', 'quicklook')] : [],
  }
}

const hasPicture = ({ assets }: Scene): boolean =>
  Object.values(assets).some(({ type }) => type?.startsWith('image/') && !type.startsWith('image/tiff'))

const openAssets = ({ assets }: Scene) =>
  Object.fromEntries(
    Object.entries(assets).map(([key, { href, type, title, roles }]) => [
      key,
      { href, ...(type ? { type } : {}), ...(title ? { title } : {}), roles: [...roles] },
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
