import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { requireArea } from '#core/geometry.ts'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import { requireBbox } from '#model/imagery/footprint.ts'
import { operation } from '#operation.ts'
import { readPoints } from './points.lib.ts'

/** Points of one granule within an area: all of them, or an even subsample if there are too many. */
export default operation({
  id: 'catalog.granule_points',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    collection: Type.String({ minLength: 1, maxLength: 300, description: 'Collection name of the granule' }),
    href: Type.String({ minLength: 1, maxLength: 2_048, description: "URL of the granule's points, from its assets" }),
    bbox: Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'Bounding box as west, south, east, north in degrees' }),
    max_points: Defaulted(Type.Integer({ minimum: 100, maximum: 250_000 }), 60_000, { description: 'Maximum number of points to return' }),
    clip_polygon: Type.Optional(Nullable(Described(GeoJsonArea, 'Area to clip to: GeoJSON Polygon or MultiPolygon'))),
  }),
  output: Closed(
    {
      points: Type.Array(Type.Array(Type.Number()), { description: 'Points as longitude, latitude and value' }),
      value_label: Type.String({ description: 'Label of the values' }),
      value_range: Type.Array(Type.Number(), { description: 'Minimum and maximum value in the area; empty without points' }),
      count: Type.Integer({ description: 'Number of points in the area' }),
      returned: Type.Integer({ description: 'Number of points returned' }),
      subsampled: Type.Boolean({ description: 'Whether the points were subsampled' }),
    },
    { description: 'Points of the granule' },
  ),
  example: {
    input: { collection: 'sandbox-altimetry', href: 'https://data.example/granules/1.ndjson', bbox: [151, -34, 152, -33] },
    output: {
      points: [[151.2, -33.8, 12.4]],
      value_label: 'Height (m)',
      value_range: [12.4, 12.4],
      count: 1,
      returned: 1,
      subsampled: false,
    },
  },
}).handle({
  async check({ vendors }, { collection, bbox, clip_polygon }) {
    const source = vendors.sources.find(({ collections }) => collections.some(({ id }) => id === collection))
    if (!source) throw problem('not-found', 'No source has this collection; see catalog.sources.list')
    if (source.renderStrategy !== 'points') throw invalidField('collection', 'has no point granules')
    return {
      source,
      bbox: requireBbox(bbox, 'bbox'),
      polygon: clip_polygon ? requireArea(clip_polygon, 'clip_polygon') : null,
    }
  },
  async execute({ vendors, signal }, { href, max_points }, { source, bbox, polygon }) {
    const bytes = vendors.catalog(source.hostName).read(href, { signal })
    return await readPoints(bytes, source.hostName, { bbox, polygon, maxPoints: max_points })
  },
})
