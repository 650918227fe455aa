import { Closed, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROFILE, ProfileId, ProfileRecord, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Returns a saved profile of an item. */
export default operation({
  id: 'visualization.profile.get',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ item_id: Described(ItemId, 'Item ID'), profile_id: Described(ProfileId, 'Visualization profile ID') }),
  output: ProfileRecord,
  example: { input: { item_id: EXAMPLE_PROFILE.item_id, profile_id: EXAMPLE_PROFILE.id }, output: EXAMPLE_PROFILE },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await items.requireReader(db, principal, item_id)
  },
  async execute({ db }, { profile_id }, { item }) {
    return toRecord(await visualizationProfiles.requireOf(db, item.seq, profile_id), item.id)
  },
})
