import Type from 'typebox'
import { requireGeometry } from '#core/geometry.ts'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { shownBy } from '#services/rendering/legend.ts'
import { samplesAlong, valuesAlong } from '#services/rendering/line.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { styleFields } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MAX_SAMPLES = 500
const STANDARD_SAMPLES = 100

/** A profile of an item: what its style shows, along a line. */
export default operation({
  id: 'items.line',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    geometry: Described(GeoJsonGeometry, 'GeoJSON LineString in longitude and latitude'),
    samples: Defaulted(
      Type.Integer({ minimum: 2, maximum: MAX_SAMPLES, description: 'Number of places at equal distances, both ends included' }),
      STANDARD_SAMPLES,
    ),
    asset_key: styleFields.asset_key,
    bands: styleFields.bands,
    expression: styleFields.expression,
    profile: styleFields.profile,
  }),
  output: Closed(
    {
      item_id: Type.String({ description: 'Item ID' }),
      asset_key: Type.String({ description: 'Asset key; for an item with one file per band, the keys of all files, separated by commas' }),
      names: Type.Array(Type.String(), { description: 'Band names or expressions, in the order of the values' }),
      length_m: Type.Number({ description: 'Length of the line in metres, on the WGS 84 ellipsoid' }),
      samples: Type.Array(
        Closed({
          distance_m: Type.Number({ description: 'Distance from the start of the line, in metres' }),
          longitude: Type.Number({ description: 'Longitude in degrees, -180 to 180' }),
          latitude: Type.Number({ description: 'Latitude in degrees, -90 to 90' }),
          inside: Type.Boolean({ description: 'Whether the place is inside the raster' }),
          values: Type.Array(Nullable(Type.Number()), { description: 'Value of each band or expression, or none where there is no data' }),
        }),
        { description: 'Places along the line, from its start' },
      ),
    },
    { description: 'Values along the line. Places that are further apart than pixels are read from an overview' },
  ),
  example: {
    input: {
      item_id: EXAMPLE_ITEM.id,
      geometry: {
        type: 'LineString',
        coordinates: [
          [151.2, -33.85],
          [151.21, -33.85],
        ],
      },
      samples: 2,
      expression: '(b4-b3)/(b4+b3)',
    },
    output: {
      item_id: EXAMPLE_ITEM.id,
      asset_key: 'data',
      names: ['(b4-b3)/(b4+b3)'],
      length_m: 925.6,
      samples: [
        { distance_m: 0, longitude: 151.2, latitude: -33.85, inside: true, values: [0.75] },
        { distance_m: 925.6, longitude: 151.21, latitude: -33.85, inside: true, values: [0.61] },
      ],
    },
  },
}).handle({
  async check(context, input) {
    const line = requireGeometry(input.geometry, 'geometry')
    if (line.type !== 'LineString') throw invalidField('geometry', 'must be a GeoJSON LineString')
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return { line, styled: await styleLayer(context, layer, input) }
  },
  async execute(context, { samples }, { line, styled }) {
    const places = samplesAlong(line.coordinates, samples)
    const values = await valuesAlong(context, styled, places)
    context.usage.touch(styled.layer.item.seq)
    const names = shownBy(styled)
    return {
      item_id: styled.layer.item.id,
      asset_key: styled.layer.asset.key,
      names,
      length_m: places.at(-1)!.distance_m,
      samples: places.map((place, index) => ({
        ...place,
        inside: values[index] !== null,
        values: values[index] ?? names.map(() => null),
      })),
    }
  },
})
