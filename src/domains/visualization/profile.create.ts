import Type from 'typebox'
import { Closed, Defaulted, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { requireConfig, requireFit } from './check.lib.ts'
import { AssetKey, Config, EXAMPLE_PROFILE, ProfileLayer, ProfileName, ProfileRecord, ProfileType, SortOrder, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Saves a visualization profile of an item, optionally as its default. */
export default operation({
  id: 'visualization.profile.create',
  scope: 'items:write',
  tier: 'compute',
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    name: Described(ProfileName, 'Display name of the profile'),
    layer: Defaulted(ProfileLayer, 'user', { description: 'Origin of the profile: sensor default, automatic or user-defined' }),
    type: Described(ProfileType, 'Visualization type'),
    is_default: Defaulted(Type.Boolean(), false, { description: "Whether this becomes the item's default" }),
    sort_order: Defaulted(SortOrder, 0, { description: 'Position in the list' }),
    config: Described(Config, 'Bands or expression, colours and value range'),
    asset_key: Described(Type.Optional(AssetKey), 'Asset key'),
  }),
  output: ProfileRecord,
  example: {
    input: {
      item_id: EXAMPLE_PROFILE.item_id,
      name: EXAMPLE_PROFILE.name,
      type: EXAMPLE_PROFILE.type,
      config: EXAMPLE_PROFILE.config,
      is_default: true,
    },
    output: EXAMPLE_PROFILE,
  },
}).handle({
  async check(context, input) {
    const { item, project } = await items.requireEditor(context.db, context.principal, input.item_id)
    const config = requireConfig(input.type, input.config)
    const assetKey = input.asset_key ?? null
    await requireFit(context, item.seq, { type: input.type, config, assetKey })
    return { item, organizationId: project.organizationId, config, assetKey }
  },
  async execute(
    { tx, principal, clock, attributeTo },
    { name, type, layer, is_default, sort_order },
    { item, organizationId, config, assetKey },
  ) {
    attributeTo(organizationId)
    await items.lock(tx, item.seq)
    const owner = { organizationId, itemSeq: item.seq, createdBy: principal.userId, now: clock.now() }
    return toRecord(
      await visualizationProfiles.insert(tx, owner, {
        name,
        type,
        config,
        assetKey,
        layer,
        isDefault: is_default,
        sortOrder: sort_order,
      }),
      item.id,
    )
  },
})
