/** Shapes of public imagery. */
import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'

const MaybeNumber = Nullable(Type.Number())

export const SceneInfo = Closed(
  {
    scene_id: Type.String(),
    provider: Type.String(),
    collection: Type.String(),
    datetime: Nullable(Type.String({ format: 'date-time' })),
    cloud_cover: MaybeNumber,
    bounds: Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'West, south, east, north' }),
    bands: Type.Array(Closed({ index: Type.Integer(), name: Type.String(), role: Nullable(Type.String()) })),
    min_zoom: Type.Integer(),
    max_zoom: Type.Integer(),
    width: Type.Integer(),
    height: Type.Integer(),
    data_type: Type.String(),
    statistics: Type.Array(
      Closed({
        min: MaybeNumber,
        max: MaybeNumber,
        mean: MaybeNumber,
        std: MaybeNumber,
        p2: MaybeNumber,
        p98: MaybeNumber,
        valid_fraction: Type.Number(),
      }),
      { description: 'Of each band, from an overview' },
    ),
    attribution: Type.String(),
  },
  { $id: 'PublicSceneInfo' },
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
        id: Type.String(),
        label: Type.String(),
        kind: Choice(['rgb', 'index', 'elevation', 'raw']),
        bands: Nullable(Type.Array(Type.Integer())),
        expression: Nullable(Type.String()),
        colormap: Nullable(Type.String()),
        rescale: Nullable(Type.String()),
        description: Type.String(),
      }),
    ),
    default_id: Nullable(Type.String()),
    tile_template: Type.String({ description: 'Address of tiles; fill in scene_id, visualization, z, x and y' }),
    attribution: Type.String(),
  },
  { $id: 'PublicVisualizations' },
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
