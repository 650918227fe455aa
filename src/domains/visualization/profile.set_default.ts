import { Closed, Described } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROFILE, ProfileId, ProfileRecord, toRecord } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Sets the default profile of an item. */
export default operation({
  id: 'visualization.profile.set_default',
  scope: 'items:write',
  tier: 'compute',
  input: Closed({ item_id: Described(ItemId, 'Item ID'), profile_id: Described(ProfileId, 'Visualization profile ID') }),
  output: ProfileRecord,
  example: { input: { item_id: EXAMPLE_PROFILE.item_id, profile_id: EXAMPLE_PROFILE.id }, output: EXAMPLE_PROFILE },
}).handle({
  async check({ db, principal }, { item_id, profile_id }) {
    const { item, project } = await items.requireEditor(db, principal, item_id)
    const profile = await visualizationProfiles.requireOf(db, item.seq, profile_id)
    return { item, project, profile }
  },
  async execute({ tx, clock, attributeTo }, _input, { item, project, profile }) {
    attributeTo(project.organizationId)
    await items.lock(tx, item.seq)
    return toRecord(await visualizationProfiles.setDefault(tx, item.seq, profile.id, clock.now()), item.id)
  },
})
