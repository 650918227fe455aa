import Type, { type Static } from 'typebox'
import { Choice, Closed, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { PROFILE_LAYERS, PROFILE_TYPES } from '#core/vocabulary.ts'
import type { Profile } from '#model/imagery/visualization-profile.ts'
import { MAX_CHARACTERS } from '#raster/expression/index.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const ProfileId = Type.String({ minLength: 1, maxLength: 100 })
export const ProfileName = NotBlank(255)
export const ProfileType = Choice(PROFILE_TYPES)
export const ProfileLayer = Choice(PROFILE_LAYERS)
export const AssetKey = Nullable(Type.String({ minLength: 1, maxLength: 255 }))
export const SortOrder = Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })

/** Null is the same as absent, here and nowhere else: forms send every field that they have. */
export const Config = Closed({
  bands: Type.Optional(Nullable(Type.Array(Type.Integer({ minimum: 1, maximum: 64 }), { minItems: 1, maxItems: 3 }))),
  expression: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: MAX_CHARACTERS }))),
  colormap: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
  rescale: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: '`min,max`, or one pair a band separated by `;`. Without it the image’s own range applies',
      }),
    ),
  ),
  color_table: Type.Optional(
    Nullable(Type.Boolean({ description: 'Samples are numbers of classes: the file’s own colours, or those of the colormap in turn' })),
  ),
  resampling: Type.Optional(Nullable(Choice(['nearest', 'bilinear', 'cubic', 'average']))),
})

export const ProfileRecord = Closed(
  {
    id: Uuid,
    item_id: Type.String(),
    name: Type.String(),
    layer: ProfileLayer,
    type: ProfileType,
    /** What `visualization.list_for` calls this type; the four that follow are the config's own. */
    kind: Choice(['rgb', 'index', 'raw']),
    bands: Nullable(Type.Array(Type.Integer())),
    expression: Nullable(Type.String()),
    colormap: Nullable(Type.String()),
    rescale: Nullable(Type.String()),
    is_default: Type.Boolean(),
    sort_order: Type.Integer(),
    config: Config,
    asset_key: Nullable(Type.String()),
    version: Type.Integer(),
    created_by: Nullable(Uuid),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'VisualizationProfile' },
)

export function toRecord(profile: Profile, itemId: string): Static<typeof ProfileRecord> {
  const { id, name, layer, type, config } = profile
  return {
    id,
    item_id: itemId,
    name,
    layer,
    type,
    kind: type === 'expression' ? 'index' : type === 'singleband' ? 'raw' : 'rgb',
    bands: config.bands ?? null,
    expression: config.expression ?? null,
    colormap: config.colormap ?? null,
    rescale: config.rescale ?? null,
    is_default: profile.isDefault,
    sort_order: profile.sortOrder,
    config,
    asset_key: profile.assetKey,
    version: profile.version,
    created_by: profile.createdBy,
    created_at: profile.createdAt.toISOString(),
    updated_at: profile.updatedAt.toISOString(),
  }
}

export const EXAMPLE_PROFILE: Static<typeof ProfileRecord> = {
  id: '0199f2c6-4444-7abc-8def-0123456789ab',
  item_id: EXAMPLE_IDS.asset,
  name: 'Crop vigour',
  layer: 'user',
  type: 'expression',
  kind: 'index',
  bands: null,
  expression: '(b4-b3)/(b4+b3)',
  colormap: 'rdylgn',
  rescale: '-0.2,0.9',
  is_default: true,
  sort_order: 0,
  config: { expression: '(b4-b3)/(b4+b3)', colormap: 'rdylgn', rescale: '-0.2,0.9' },
  asset_key: null,
  version: 1,
  created_by: null,
  created_at: '2026-03-01T09:00:00.000Z',
  updated_at: '2026-03-01T09:00:00.000Z',
}
