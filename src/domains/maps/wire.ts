/** Named maps as callers send and receive them; content.lib.ts checks what a schema cannot. */
import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { Choice, Closed, Defaulted, Described, Matching, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { BLEND_MODES } from '#core/vocabulary.ts'
import type { MapLayer, MapSummary, SavedMap, Sources } from '#model/imagery/map.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { ItemId } from '#wire/ids.ts'
import { MAP_FIELDS, MapFeature, MapGroup } from '#wire/map.ts'
import { styleFields } from '#wire/tile.ts'

const MAX_LAYERS = 50
const MAX_GROUPS = 20
const MAX_ANNOTATIONS = 500
export const MAX_FEATURES = 5_000
/** Of a request; a map with the most positions that are allowed fits. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

export const MapId = Type.String({ minLength: 1, maxLength: 100, description: 'Map ID' })
export const Name = NotBlank(200, { description: 'Display name of the map' })
export const DescriptionText = Type.String({ maxLength: 2_000, description: 'What the map shows' })

const Color = Matching('^#[0-9a-fA-F]{6}$', 'must be a colour such as #1a7f64', { maxLength: 7 })
const Opacity = Type.Number({ minimum: 0, maximum: 1 })
const BLEND = 'How the layer is combined with what is below it'

const Style = Closed(styleFields, { $id: 'NewMapStyle', description: 'How a layer renders its imagery' })

const NewFeature = Closed({
  name: Described(Type.Optional(Nullable(Type.String({ maxLength: 200 }))), 'Name of the shape'),
  geometry: Described(GeoJsonGeometry, 'GeoJSON geometry in WGS 84'),
})

export const NewLayer = Closed(
  {
    id: Described(Type.Optional(Nullable(Uuid)), 'Layer ID; created if omitted'),
    item_id: Described(Type.Optional(Nullable(ItemId)), 'ID of an item in the project of the map'),
    collection_id: Described(Type.Optional(Nullable(ItemId)), 'ID of a collection in the project of the map'),
    features: Type.Optional(Nullable(Type.Array(NewFeature, { maxItems: MAX_FEATURES, description: 'Shapes of a vector layer' }))),
    name: Described(Type.Optional(Nullable(NotBlank(200))), 'Display name; defaults to the name of the item or collection'),
    group_id: Described(Type.Optional(Nullable(Uuid)), 'ID of the group that the layer belongs to'),
    visible: Defaulted(Type.Boolean(), true, { description: 'Whether the layer is shown at first' }),
    opacity: Defaulted(Opacity, 1, { description: 'Opacity, 0 to 1' }),
    blend: Defaulted(Choice(BLEND_MODES), 'normal', { description: BLEND }),
    color: Described(Type.Optional(Nullable(Color)), 'Colour of a vector layer as `#rrggbb`'),
    style: Described(Type.Optional(Nullable(Style)), 'Style; defaults to that of the item'),
  },
  { $id: 'NewMapLayer', description: 'A layer of a map: exactly one of `item_id`, `collection_id` and `features` is set' },
)

export const NewAnnotation = Closed(
  {
    id: Described(Type.Optional(Nullable(Uuid)), 'Annotation ID; created if omitted'),
    geometry: Described(GeoJsonGeometry, 'Point, line or area in WGS 84'),
    text: Type.String({ maxLength: 2_000, description: 'Text of the annotation' }),
    color: Described(Type.Optional(Nullable(Color)), 'Colour as `#rrggbb`'),
  },
  { $id: 'NewMapAnnotation', description: 'A point, line or area with a text' },
)

export const Content = {
  layers: Type.Array(NewLayer, { maxItems: MAX_LAYERS, description: 'Layers of the map, from top to bottom' }),
  groups: Type.Array(MapGroup, { maxItems: MAX_GROUPS, description: 'Groups of layers' }),
  camera: MAP_FIELDS.camera,
  annotations: Type.Array(NewAnnotation, { maxItems: MAX_ANNOTATIONS, description: 'Points, lines and areas, each with a text' }),
}

const text = (description: string) => Described(Nullable(Type.String()), description)

const LayerRecord = Closed(
  {
    id: Described(Uuid, 'Layer ID'),
    item_id: text('Item ID; null for other layers'),
    collection_id: text('Collection ID; null for other layers'),
    features: Described(Nullable(Type.Array(MapFeature)), 'Shapes of a vector layer; null for imagery'),
    name: text('Display name; null for the name of the item or collection'),
    source_name: text('Name of the item or collection; null for a vector layer, and for imagery that is no longer in the project'),
    group_id: Described(Nullable(Uuid), 'ID of the group; null if none'),
    visible: Type.Boolean({ description: 'Whether the layer is shown at first' }),
    opacity: Type.Number({ description: 'Opacity, 0 to 1' }),
    blend: Choice(BLEND_MODES, { description: BLEND }),
    color: text('Colour of a vector layer; null for the default'),
    style: Described(
      Nullable(
        Closed({
          profile: text('Visualization profile ID or derived visualization; null if none'),
          asset_key: text('Asset key; null for the default'),
          bands: text('Bands; null if none'),
          expression: text('Band math expression; null if none'),
          rescale: text('Value ranges; null for the default'),
          colormap: text('Colormap name; null for the default'),
        }),
      ),
      'Style; null for that of the item',
    ),
  },
  { $id: 'MapLayer', description: 'A layer of a map' },
)

const SUMMARY = {
  id: Described(Uuid, 'Map ID'),
  project_id: Described(Uuid, 'ID of the project whose imagery the map shows'),
  name: Type.String({ description: 'Display name of the map' }),
  description: text('What the map shows; null if nothing is said'),
  version: Type.Integer({ description: 'Number of changes; send it with the next change' }),
  created_by: Described(Nullable(Uuid), 'User ID of the creator; null if created with an API key'),
  created_at: Described(Timestamp, 'Creation time'),
  updated_at: Described(Timestamp, 'Time of the last change'),
}

export const SummaryRecord = Closed(
  {
    ...SUMMARY,
    layer_count: Type.Integer({ description: 'Number of layers' }),
    annotation_count: Type.Integer({ description: 'Number of annotations' }),
    comment_count: Type.Integer({ description: 'Number of comments, including resolved ones' }),
    open_comment_count: Type.Integer({ description: 'Number of comments that are not resolved' }),
  },
  { $id: 'MapSummary', description: 'A map without its layers' },
)

export const MapRecord = Closed(
  {
    ...SUMMARY,
    layers: Type.Array(LayerRecord, { description: 'Layers from top to bottom' }),
    ...MAP_FIELDS,
  },
  { $id: 'NamedMap', description: 'A named map of a project' },
)

const headOf = (map: Omit<SavedMap, 'content'>) => ({
  id: map.id,
  project_id: map.projectId,
  name: map.name,
  description: map.description,
  version: map.version,
  created_by: map.createdBy,
  created_at: map.createdAt.toISOString(),
  updated_at: map.updatedAt.toISOString(),
})

export const toSummary = (map: MapSummary) => ({
  ...headOf(map),
  layer_count: map.layerCount,
  annotation_count: map.annotationCount,
  comment_count: map.commentCount,
  open_comment_count: map.openCommentCount,
})

const sourceName = ({ item_id, collection_id }: MapLayer, { items, collections }: Sources): string | null =>
  (item_id === null ? collections.get(collection_id ?? '')?.name : items.get(item_id)?.name) ?? null

export function toRecord(map: SavedMap, sources: Sources) {
  const { layers, groups, camera, annotations } = map.content
  return {
    ...headOf(map),
    layers: layers.map((layer) => ({
      ...layer,
      source_name: sourceName(layer, sources),
      features: layer.features && layer.features.map(({ name, geometry }) => ({ name, geometry: { ...geometry } })),
    })),
    groups,
    camera,
    annotations: annotations.map((each) => ({ ...each, geometry: { ...each.geometry } })),
  }
}

export const EXAMPLE_LAYER = {
  id: '0199f2dd-1111-7000-8000-000000000001',
  item_id: EXAMPLE_IDS.item,
  collection_id: null,
  features: null,
  name: 'Vegetation',
  group_id: null,
  visible: true,
  opacity: 0.8,
  blend: 'multiply' as const,
  color: null,
  style: { profile: 'ndvi', asset_key: null, bands: null, expression: null, rescale: null, colormap: null },
}
const EXAMPLE_HEAD = {
  id: '0199f2dd-0000-7000-8000-000000000001',
  project_id: EXAMPLE_IDS.project,
  name: 'Harbour, vegetation',
  description: null,
  version: 1,
  created_by: EXAMPLE_IDS.user,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}
export const EXAMPLE_MAP_SUMMARY = { ...EXAMPLE_HEAD, layer_count: 1, annotation_count: 0, comment_count: 2, open_comment_count: 1 }
export const EXAMPLE_MAP = {
  ...EXAMPLE_HEAD,
  layers: [{ ...EXAMPLE_LAYER, source_name: 'Sentinel-2B, 14 February 2026' }],
  groups: [],
  camera: { longitude: 146.6, latitude: -18.45, zoom: 10, bearing: 0, pitch: 0 },
  annotations: [],
}
