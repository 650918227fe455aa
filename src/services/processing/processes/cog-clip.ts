import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Described } from '#core/shapes.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { Area, EXAMPLE_AREA, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process, type ProducedAsset } from '#services/processing/process.ts'
import { bandFields, scalingProperties } from '#services/processing/stated.ts'
import { warped } from '#services/processing/work.ts'

const ONE_OF_TWO = 'send exactly one of item_id and rasters'

/** The part of an item's rasters inside a polygon, each as a COG with unchanged pixels. */
export default process({
  id: 'cog_clip',
  title: 'Clip to an area',
  description: 'Clips rasters to a polygon. Pixels keep their values and grid; those whose centre lies outside become no data.',
  version: '1',
  category: 'geometry',
  input: Closed({
    item_id: Type.Optional(Item),
    asset_keys: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Asset keys; defaults to all rasters of the item',
      }),
    ),
    rasters: Type.Optional(
      Type.Array(
        Closed({
          key: Type.String({ minLength: 1, maxLength: 255, description: 'Asset key of the clip' }),
          url: Type.String({ minLength: 1, maxLength: 2_048, description: 'HTTPS URL on an allowed host' }),
        }),
        { minItems: 1, maxItems: 100, description: 'Rasters by URL, instead of an item' },
      ),
    ),
    geometry: Described(Area, 'GeoJSON Polygon or MultiPolygon of at most 999 vertices, in longitude and latitude'),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  meter: 'compute_jobs',
  example: { item_id: EXAMPLE_ITEM_ID, asset_keys: ['data'], geometry: EXAMPLE_AREA },
}).handle({
  sources: ({ item_id, asset_keys, rasters }) => {
    if (item_id !== undefined && rasters !== undefined) throw invalidField('item_id', ONE_OF_TWO)
    return item_id === undefined
      ? (rasters ?? []).map(({ key, url }, index) => ({ field: `rasters.${index}.url`, key, url }))
      : [{ field: 'item_id', itemId: item_id, assets: asset_keys ?? ('rasters' as const), keysField: 'asset_keys' }]
  },
  area: ({ geometry }) => ({ geometry, field: 'geometry' }),
  /** An estimate can omit both; it is then for the whole area. */
  check({ geometry, item_id, rasters }) {
    if (item_id === undefined && rasters === undefined) throw invalidField('item_id', ONE_OF_TWO)
    if (geometry === undefined) throw invalidField('geometry', 'is required')
  },
  work({ geometry }, sources) {
    const clips = sources.map((source) => warped(source, { geometry }))
    return {
      reads: clips.reduce((sum, { reads }) => sum + reads, 0),
      rasters: clips.flatMap(({ rasters }) => rasters),
    }
  },
  async run({ compute }, { geometry, output_name }, sources) {
    const assets: ProducedAsset[] = []
    for (const [index, { key, source, info, bandNames, stated }] of sources.entries()) {
      const stage = { name: `clipping ${key}`, from: index / sources.length, to: (index + 1) / sources.length }
      const { files } = await compute({ method: 'warp', sources: [source], options: { geometry }, outputs: ['data.tif'] }, stage)
      const isCategorical = info.colorTable !== null
      const title = `${key}, clipped`
      const fields = stated && bandFields(stated.fields)
      assets.push({
        key,
        title,
        roles: stated?.roles.length ? stated.roles : ['data'],
        mediaType: COG_TYPE,
        path: files['data.tif']!.path,
        isCategorical,
        ...(bandNames ? { bandNames } : {}),
        ...(fields ? { stac: fields } : {}),
      })
    }
    const [first] = sources
    const times = first?.item
      ? { datetime: first.item.datetime, startDatetime: first.item.startDatetime, endDatetime: first.item.endDatetime }
      : {}
    const properties = scalingProperties(first?.item?.properties ?? {})
    const name = output_name ?? `${first?.item?.name ?? first!.key}, clipped`
    return { items: [{ name, type: 'clip', assets, properties, ...times }] }
  },
})
