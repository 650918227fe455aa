import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { requireConfig, requireFit } from './check.lib.ts'
import { AssetKey, Config, EXAMPLE_PROFILE, ProfileId, ProfileName, ProfileRecord, ProfileType, SortOrder, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Updates a saved profile. Absent and null fields stay, except that a null `asset_key` resets to the main asset. */
export default operation({
  id: 'visualization.profile.update',
  scope: 'items:write',
  tier: 'compute',
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    profile_id: Described(ProfileId, 'Visualization profile ID'),
    name: Described(Type.Optional(Nullable(ProfileName)), 'Display name of the profile'),
    type: Described(Type.Optional(Nullable(ProfileType)), 'Visualization type'),
    is_default: Described(Type.Optional(Nullable(Type.Boolean())), "Whether this becomes the item's default"),
    sort_order: Described(Type.Optional(Nullable(SortOrder)), 'Position in the list'),
    config: Described(Type.Optional(Nullable(Config)), 'Bands or expression, colours and value range'),
    asset_key: Described(Type.Optional(AssetKey), 'Asset key'),
  }),
  output: ProfileRecord,
  example: {
    input: { item_id: EXAMPLE_PROFILE.item_id, profile_id: EXAMPLE_PROFILE.id, name: EXAMPLE_PROFILE.name },
    output: { ...EXAMPLE_PROFILE, version: 2 },
  },
}).handle({
  async check(context, input) {
    const { item, project } = await items.requireEditor(context.db, context.principal, input.item_id)
    const before = await visualizationProfiles.requireOf(context.db, item.seq, input.profile_id)
    const type = input.type ?? before.type
    const config = requireConfig(type, input.config ?? before.config)
    const assetKey = input.asset_key === undefined ? before.assetKey : input.asset_key
    await requireFit(context, item.seq, { type, config, assetKey })
    return { item, organizationId: project.organizationId, type, config, assetKey }
  },
  async execute(
    { tx, clock, attributeTo },
    { profile_id, name, is_default, sort_order },
    { item, organizationId, type, config, assetKey },
  ) {
    attributeTo(organizationId)
    await items.lock(tx, item.seq)
    const change = {
      type,
      config,
      assetKey,
      name: name ?? undefined,
      isDefault: is_default ?? undefined,
      sortOrder: sort_order ?? undefined,
    }
    return toRecord(await visualizationProfiles.update(tx, item.seq, profile_id, change, clock.now()), item.id)
  },
})
