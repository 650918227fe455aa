import { Closed, Described, Removed } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROFILE, ProfileId } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Deletes a saved profile. After the default is gone the item is shown as its image suggests. */
export default operation({
  id: 'visualization.profile.delete',
  scope: 'items:write',
  tier: 'destructive',
  input: Closed({ item_id: Described(ItemId, 'Item ID'), profile_id: Described(ProfileId, 'Visualization profile ID') }),
  output: Removed,
  example: { input: { item_id: EXAMPLE_PROFILE.item_id, profile_id: EXAMPLE_PROFILE.id }, output: { ok: true, id: EXAMPLE_PROFILE.id } },
}).handle({
  async check({ db, principal }, { item_id, profile_id }) {
    const found = await items.requireEditor(db, principal, item_id)
    await visualizationProfiles.requireOf(db, found.item.seq, profile_id)
    return found
  },
  async execute({ tx, attributeTo }, { profile_id }, { item: found, project }) {
    attributeTo(project.organizationId)
    await items.lock(tx, found.seq)
    await visualizationProfiles.remove(tx, found.seq, profile_id)
    return { ok: true as const, id: profile_id }
  },
})
