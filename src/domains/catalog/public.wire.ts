/** Schemas of public imagery. */
import Type from 'typebox'
import { Choice, Closed, Described, Nullable } from '#core/shapes.ts'

const MaybeNumber = Nullable(Type.Number())

export const SceneInfo = Closed(
  {
    scene_id: Type.String({ description: 'Scene ID assigned by the vendor' }),
    provider: Type.String({ description: 'Provider name' }),
    collection: Type.String({ description: 'Collection name' }),
    datetime: Described(Nullable(Type.String({ format: 'date-time' })), 'Acquisition time; null if unknown'),
    cloud_cover: Described(MaybeNumber, 'Cloud cover in percent; null if unknown'),
    bounds: Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'Bounding box as west, south, east, north in degrees' }),
    bands: Type.Array(
      Closed({
        index: Type.Integer({ description: '1-based band number' }),
        name: Type.String({ description: 'Band name' }),
        role: Described(Nullable(Type.String()), 'Band role used in formulas, such as `RED`; null if it has none'),
      }),
      { description: 'Bands of the scene' },
    ),
    min_zoom: Type.Integer({ description: 'Lowest zoom level with tiles' }),
    max_zoom: Type.Integer({ description: 'Zoom level of full resolution' }),
    width: Type.Integer({ description: 'Image width in pixels' }),
    height: Type.Integer({ description: 'Image height in pixels' }),
    data_type: Type.String({ description: 'Pixel data type' }),
    statistics: Type.Array(
      Closed({
        min: Described(MaybeNumber, 'Minimum value; null without valid pixels'),
        max: Described(MaybeNumber, 'Maximum value; null without valid pixels'),
        mean: Described(MaybeNumber, 'Mean value; null without valid pixels'),
        std: Described(MaybeNumber, 'Standard deviation; null without valid pixels'),
        p2: Described(MaybeNumber, '2nd percentile; null without valid pixels'),
        p98: Described(MaybeNumber, '98th percentile; null without valid pixels'),
        valid_fraction: Type.Number({ description: 'Fraction of pixels with data, 0 to 1' }),
      }),
      { description: 'Statistics of each band, computed from an overview' },
    ),
    attribution: Type.String({ description: 'Attribution to display with the imagery' }),
  },
  { $id: 'PublicSceneInfo', description: 'Metadata and statistics of a public scene' },
)

export const EXAMPLE_INFO = {
  scene_id: 'landsat_20260214_r30c12',
  provider: 'landsat',
  collection: 'landsat-c2-l2',
  datetime: '2026-02-14T00:12:44.000Z',
  cloud_cover: 4.2,
  bounds: [150, -34.5, 152, -32.5],
  bands: [{ index: 1, name: 'red', role: 'RED' }],
  min_zoom: 5,
  max_zoom: 13,
  width: 6_144,
  height: 6_144,
  data_type: 'uint16',
  statistics: [{ min: 1, max: 9_000, mean: 1_200, std: 600, p2: 300, p98: 3_100, valid_fraction: 0.8 }],
  attribution: 'USGS',
}

export const Visualizations = Closed(
  {
    visualizations: Type.Array(
      Closed({
        id: Type.String({ description: 'Visualization ID' }),
        label: Type.String({ description: 'Visualization label' }),
        kind: Choice(['rgb', 'index', 'elevation', 'raw'], { description: 'Visualization kind' }),
        bands: Described(Nullable(Type.Array(Type.Integer())), '1-based band numbers; null for an expression'),
        expression: Described(Nullable(Type.String()), 'Band math expression; null for a band combination'),
        colormap: Described(Nullable(Type.String()), 'Colormap name from `cog.colormaps`; null for RGB'),
        rescale: Described(Nullable(Type.String()), 'Value range of the colours as `min,max`; null for automatic'),
        description: Type.String({ description: 'Description of the visualization' }),
      }),
      { description: 'Visualizations of the imagery, best first' },
    ),
    default_id: Described(Nullable(Type.String()), 'ID of the default visualization; null if there is none'),
    tile_template: Type.String({ description: 'Tile URL template with `{scene_id}`, `{visualization}`, `{z}`, `{x}` and `{y}`' }),
    attribution: Type.String({ description: 'Attribution to display with the imagery' }),
  },
  { $id: 'PublicVisualizations', description: 'Visualizations of public imagery' },
)

export const EXAMPLE_VISUALIZATIONS = {
  visualizations: [
    {
      id: 'rgb',
      label: 'Natural colour',
      kind: 'rgb' as const,
      bands: [4, 3, 2],
      expression: null,
      colormap: null,
      rescale: null,
      description: 'As the eye would see it',
    },
  ],
  default_id: 'rgb',
  tile_template: 'https://imagery.example/api/v1/catalog/landsat-c2-l2/{scene_id}/tiles/{z}/{x}/{y}.webp?visualization={visualization}',
  attribution: 'USGS',
}
