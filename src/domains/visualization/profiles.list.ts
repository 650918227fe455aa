import Type from 'typebox'
import { Closed, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROFILE, ProfileRecord, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Lists the saved profiles of an item in sort order. For derived ones, such as `ndvi`, see `visualization.list_for`. */
export default operation({
  id: 'visualization.profiles.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ item_id: Described(ItemId, 'Item ID') }),
  output: Type.Array(ProfileRecord, { description: 'Visualization profiles of the item' }),
  example: { input: { item_id: EXAMPLE_PROFILE.item_id }, output: [EXAMPLE_PROFILE] },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await items.requireReader(db, principal, item_id)
  },
  async execute({ db }, _input, { item }) {
    return (await visualizationProfiles.list(db, item.seq)).map((profile) => toRecord(profile, item.id))
  },
})
