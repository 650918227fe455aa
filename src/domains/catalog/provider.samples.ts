import Type from 'typebox'
import { DAY_MS } from '#core/time.ts'
import { Closed, Described, Limit, Nullable, Offset } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requirePublic } from './public.lib.ts'

const Sample = Closed(
  {
    scene_id: Type.String({ description: 'Scene ID assigned by the vendor' }),
    title: Type.String({ description: 'Location shown' }),
    datetime: Described(Nullable(Type.String({ format: 'date-time' })), 'Acquisition time; null if unknown'),
    cloud_cover: Described(Nullable(Type.Number()), 'Cloud cover in percent; null if unknown'),
    bbox: Described(
      Nullable(Type.Array(Type.Number(), { minItems: 4, maxItems: 4 })),
      'Bounding box as west, south, east, north in degrees; null if unknown',
    ),
    collection: Type.String({ description: 'Collection name' }),
  },
  { $id: 'ProviderSample', description: 'A sample scene of a provider' },
)

/** Places that every provider covers. */
const PLACES = [
  ['Lakes and fields', 2.3, 48.2],
  ['Alps', 9.5, 46.6],
  ['Sahara', 15, 24],
  ['Amazon', -60, -4],
  ['East Australia', 149.2, -33.4],
  ['Great Plains', -98.5, 39.1],
  ['Ganges plain', 80.9, 26.8],
  ['Scandinavia', 15.6, 62.4],
] as const
/** Maximum age of a sample. */
const MAX_AGE_DAYS = 400
const CLEAR_PERCENT = 10

/** Sample images of a provider: the latest clear scene of several places. */
export default operation({
  id: 'catalog.provider.samples',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({
    provider: Type.String({ minLength: 1, maxLength: 200, description: 'Provider name' }),
    limit: Limit(50, 100),
    offset: Offset,
  }),
  output: Closed({
    samples: Type.Array(Sample, { description: 'Sample scenes' }),
    count: Type.Integer({ description: 'Number of results returned' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: {
    input: { provider: 'landsat' },
    output: {
      samples: [
        {
          scene_id: 'landsat_20260214_r30c12',
          title: 'Alps',
          datetime: '2026-02-14T10:12:44.000Z',
          cloud_cover: 2.1,
          bbox: [9, 46, 10, 47],
          collection: 'landsat-c2-l2',
        },
      ],
      count: 1,
      total: 1,
    },
  },
}).handle({
  check: async ({ vendors }, { provider }) => requirePublic(vendors, { provider })[0],
  async execute({ vendors, clock, signal }, { limit = 50, offset = 0 }, { source, collection }) {
    const to = clock.now()
    const from = new Date(to.getTime() - MAX_AGE_DAYS * DAY_MS)
    const catalog = vendors.catalog(source.hostName)
    const hasCloudCover = collection.dataType === 'raster'
    const scenes = await Promise.all(
      PLACES.slice(offset, offset + limit).map(async ([title, x, y]) => {
        const cloudCover = { operator: 'LTE', percent: CLEAR_PERCENT } as const
        const query = {
          collections: [collection.id],
          bbox: [x, y, x, y] as const,
          from,
          to,
          limit: 1,
          ...(hasCloudCover ? { cloudCover } : {}),
        }
        const [scene] = (await catalog.search(query, { signal })).scenes
        return scene ? [{ title, scene }] : []
      }),
    )
    const samples = scenes.flat().map(({ title, scene }) => ({
      scene_id: scene.id,
      title,
      datetime: scene.datetime,
      cloud_cover: scene.cloudCover,
      bbox: scene.bbox && [...scene.bbox],
      collection: scene.collection,
    }))
    return { samples, count: samples.length, total: PLACES.length }
  },
})
