/** What a visitor of a link learns of its target: nothing of the organization, the project or where files lie. */
import Type from 'typebox'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { ITEM_TYPES } from '#core/vocabulary.ts'

export const VisualizationRecord = Closed({
  id: Type.String(),
  label: Type.String(),
  kind: Choice(['rgb', 'index', 'elevation', 'raw']),
  bands: Nullable(Type.Array(Type.Integer())),
  expression: Nullable(Type.String()),
  colormap: Nullable(Type.String()),
  rescale: Nullable(Type.String()),
  category: Nullable(Type.String()),
  is_default: Type.Boolean(),
  description: Type.String(),
})

const FileRecord = Closed({
  id: Uuid,
  key: Type.String(),
  title: Nullable(Type.String()),
  media_type: Nullable(Type.String()),
  file_name: Type.String(),
  file_size_bytes: Nullable(Type.Integer()),
  url: Type.String(),
  url_expires_at: Timestamp,
})

const ITEM_FIELDS = {
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  type: Choice(ITEM_TYPES),
  bbox: Nullable(Type.Array(Type.Number())),
  geometry: Nullable(FreeForm),
  datetime: Nullable(Timestamp),
  cloud_cover: Nullable(Type.Number()),
  gsd: Nullable(Type.Number()),
  visualizations: Type.Array(VisualizationRecord),
  attribution: Nullable(Type.String({ description: 'Whom the image is owed to, and its licence, where its metadata says so' })),
  tilejson: Nullable(Type.String({ description: 'Address of the TileJSON, with a grant; null where there is no raster to draw' })),
  assets: Type.Optional(Type.Array(FileRecord, { description: 'With the permission `download` alone' })),
}
const SESSION_FIELDS = {
  grant: Type.String({ description: 'Stands for token and password in all public share operations' }),
  grant_expires_at: Timestamp,
  link_expires_at: Type.String({ format: 'date-time', description: 'When the link ends' }),
}

const SharedItem = Closed(ITEM_FIELDS, { $id: 'SharedItem' })
export const TargetRecord = Type.Union([
  Closed({ ...ITEM_FIELDS, ...SESSION_FIELDS }),
  Closed({
    id: Uuid,
    name: Type.String(),
    description: Nullable(Type.String()),
    items: Type.Array(SharedItem),
    item_count: Type.Integer(),
    ...SESSION_FIELDS,
  }),
])
