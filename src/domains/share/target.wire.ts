/** What a link reveals of its target: nothing about the organization, the project or the location of files. */
import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { BLEND_MODES, ITEM_TYPES } from '#core/vocabulary.ts'
import { MAP_FIELDS, MapFeature } from '#wire/map.ts'

export const VisualizationRecord = Closed(
  {
    id: Type.String({ description: 'Visualization ID' }),
    label: Type.String({ description: 'Visualization label' }),
    kind: Choice(['rgb', 'index', 'elevation', 'raw'], { description: 'Visualization kind' }),
    bands: Described(Nullable(Type.Array(Type.Integer())), '1-based band numbers; null for an expression'),
    expression: Described(Nullable(Type.String()), 'Band math expression; null for a band combination'),
    colormap: Described(Nullable(Type.String()), 'Colormap name from `cog.colormaps`; null for RGB'),
    rescale: Described(Nullable(Type.String()), 'Value range of the colours as `min,max`; null for automatic'),
    category: Described(Nullable(Type.String()), 'Category that groups visualizations; null if none'),
    is_default: Type.Boolean({ description: 'Whether this is the default visualization' }),
    description: Type.String({ description: 'Description of the visualization' }),
  },
  { $id: 'SharedVisualization', description: 'A way to render a shared item' },
)

const FileRecord = Closed(
  {
    id: Described(Uuid, 'Asset ID'),
    key: Type.String({ description: 'Asset key' }),
    title: Described(Nullable(Type.String()), 'Asset title; null if none'),
    media_type: Described(Nullable(Type.String()), 'Media type of the file; null if unknown'),
    file_name: Type.String({ description: 'File name' }),
    file_size_bytes: Described(Nullable(Type.Integer()), 'File size in bytes; null if unknown'),
    url: Type.String({ description: 'Download URL' }),
    url_expires_at: Described(Timestamp, 'Time the download URL expires'),
  },
  { $id: 'SharedFile', description: 'A downloadable file of a shared item' },
)

const LicenseRecord = Closed(
  {
    name: Nullable(Type.String({ description: 'SPDX identifier or name of the licence; null if unknown' })),
    url: Nullable(Type.String({ description: 'URL of the licence text; null if unknown' })),
  },
  { $id: 'SharedLicense', description: 'Licence of a shared image' },
)

const ITEM_FIELDS = {
  id: Type.String({ description: 'Item ID' }),
  name: Type.String({ description: 'Display name of the item' }),
  description: Described(Nullable(Type.String()), 'Item description; null if none'),
  type: Choice(ITEM_TYPES, { description: 'Item type' }),
  bbox: Described(Nullable(Type.Array(Type.Number())), 'Bounding box as west, south, east, north in degrees; null if unknown'),
  geometry: Described(Nullable(GeoJsonGeometry), 'Item footprint; null if unknown'),
  datetime: Described(Nullable(Timestamp), 'Acquisition time; null if unknown'),
  cloud_cover: Described(Nullable(Type.Number()), 'Cloud cover in percent; null if unknown'),
  gsd: Described(Nullable(Type.Number()), 'Ground resolution in metres per pixel; null if unknown'),
  visualizations: Type.Array(VisualizationRecord, { description: 'Visualizations of the shared item, best first' }),
  attribution: Nullable(Type.String({ description: 'Who must be named when the image is shown; null if unknown' })),
  license: LicenseRecord,
  tilejson: Nullable(Type.String({ description: 'TileJSON URL including a grant; null without a raster' })),
  assets: Type.Optional(Type.Array(FileRecord, { description: 'Downloadable files; only with the `download` permission' })),
}
const SESSION_FIELDS = {
  grant: Type.String({ description: 'Grant that replaces token and password in public share operations' }),
  grant_expires_at: Described(Timestamp, 'Time the grant expires'),
  link_expires_at: Type.String({ format: 'date-time', description: 'Expiry time of the link' }),
}

const SharedLayer = Closed(
  {
    id: Described(Uuid, 'Layer ID'),
    name: Type.String({ description: 'Display name of the layer' }),
    group_id: Described(Nullable(Uuid), 'ID of the group; null if none'),
    visible: Type.Boolean({ description: 'Whether the layer is shown at first' }),
    opacity: Type.Number({ description: 'Opacity, 0 to 1' }),
    blend: Choice(BLEND_MODES, { description: 'How the layer is combined with what is below it' }),
    color: Described(Nullable(Type.String()), 'Colour of a vector layer; null for the default'),
    features: Described(Nullable(Type.Array(MapFeature)), 'Shapes of a vector layer; null for imagery'),
    bbox: Described(Nullable(Type.Array(Type.Number())), 'Bounding box of an image; null if unknown'),
    datetime: Described(Nullable(Timestamp), 'Acquisition time of an image; null if unknown'),
    attribution: Nullable(Type.String({ description: 'Who must be named when the image is shown; null if unknown' })),
    license: LicenseRecord,
    tilejson: Nullable(Type.String({ description: 'TileJSON URL including a grant; null without a raster' })),
  },
  { $id: 'SharedMapLayer', description: 'A layer of a shared map, in the style of the map' },
)
const SharedMap = Closed({
  id: Described(Uuid, 'Map ID'),
  name: Type.String({ description: 'Display name of the map' }),
  description: Described(Nullable(Type.String()), 'What the map shows; null if nothing is said'),
  layers: Type.Array(SharedLayer, { description: 'Layers of the shared map, from top to bottom' }),
  tilejson: Nullable(Type.String({ description: 'Always null: each layer has a TileJSON URL of its own' })),
  ...MAP_FIELDS,
  ...SESSION_FIELDS,
})

const SharedItem = Closed(ITEM_FIELDS, { $id: 'SharedItem', description: 'A shared item' })
export const TargetRecord = Type.Union([
  Closed({ ...ITEM_FIELDS, ...SESSION_FIELDS }),
  Closed({
    id: Described(Uuid, 'Collection ID'),
    name: Type.String({ description: 'Display name of the collection' }),
    description: Described(Nullable(Type.String()), 'Collection description; null if none'),
    items: Type.Array(SharedItem, { description: 'Items of the collection' }),
    item_count: Type.Integer({ description: 'Number of items in the collection' }),
    tilejson: Nullable(Type.String({ description: 'TileJSON URL of the whole collection; null unless the link is public' })),
    ...SESSION_FIELDS,
  }),
  SharedMap,
])
