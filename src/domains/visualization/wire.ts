import Type, { type Static } from 'typebox'
import { Choice, Closed, Described, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
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

/** Only here, null means absent, because forms send all their fields. */
export const Config = Closed(
  {
    bands: Described(
      Type.Optional(Nullable(Type.Array(Type.Integer({ minimum: 1, maximum: 64 }), { minItems: 1, maxItems: 3 }))),
      '1-based band numbers',
    ),
    expression: Described(
      Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: MAX_CHARACTERS }))),
      'Band math expression, for example `(b4-b3)/(b4+b3)`',
    ),
    colormap: Described(Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))), 'Colormap name from `cog.colormaps`'),
    rescale: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: "Value range of the colours as `min,max`, or one pair per band separated by `;`; defaults to the image's range",
        }),
      ),
    ),
    color_table: Type.Optional(
      Nullable(
        Type.Boolean({ description: "Whether pixel values are class codes, drawn in the file's colour table or the colormap's colours" }),
      ),
    ),
    resampling: Described(Type.Optional(Nullable(Choice(['nearest', 'bilinear', 'cubic', 'average']))), 'Resampling method'),
  },
  { $id: 'VisualizationConfig', description: 'Bands or expression, colours and value range' },
)

export const ProfileRecord = Closed(
  {
    id: Described(Uuid, 'Visualization profile ID'),
    item_id: Type.String({ description: 'Item ID' }),
    name: Type.String({ description: 'Display name of the profile' }),
    layer: Described(ProfileLayer, 'Origin of the profile: sensor default, automatic or user-defined'),
    type: Described(ProfileType, 'Visualization type'),
    /** The kind in `visualization.list_for`; the next four fields repeat the config. */
    kind: Choice(['rgb', 'index', 'raw'], { description: 'Rendering kind' }),
    bands: Described(Nullable(Type.Array(Type.Integer())), '1-based band numbers; null for an expression'),
    expression: Described(Nullable(Type.String()), 'Band math expression; null for a band combination'),
    colormap: Described(Nullable(Type.String()), 'Colormap name from `cog.colormaps`; null for RGB'),
    rescale: Described(Nullable(Type.String()), 'Value range of the colours as `min,max`; null for automatic'),
    is_default: Type.Boolean({ description: "Whether this is the item's default profile" }),
    sort_order: Type.Integer({ description: 'Position in the list' }),
    config: Described(Config, 'Bands or expression, colours and value range'),
    asset_key: Described(Nullable(Type.String()), 'Asset key; null for the default asset'),
    version: Type.Integer({ description: 'Version of the profile, incremented by each change' }),
    created_by: Described(Nullable(Uuid), 'User ID of the creator; null if not created by a user'),
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'VisualizationProfile', description: 'A saved visualization profile of an item' },
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
