import Type from 'typebox'
import { Closed, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROFILE, ProfileRecord, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** The saved profiles of one item, in their order. Derived ones, such as `ndvi`, are not among them: `visualization.list_for` has those. */
export default operation({
  id: 'visualization.profiles.list',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ item_id: Described(ItemId, 'Item ID') }),
  output: Type.Array(ProfileRecord, { description: 'Visualization profiles of the item' }),
  example: { input: { item_id: EXAMPLE_PROFILE.item_id }, output: [EXAMPLE_PROFILE] },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await items.requireReader(db, principal, item_id)
  },
  async execute({ db }, _input, found) {
    return (await visualizationProfiles.list(db, found.item.seq)).map((profile) => toRecord(profile, found.item.id))
  },
})
