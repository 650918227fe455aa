import { Closed, Described, Removed } from '#core/shapes.ts'
import * as items from '#model/imagery/item-read.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PROFILE, ProfileId } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Deletes a saved profile. Without a default profile, the style is derived from the bands. */
export default operation({
  id: 'visualization.profile.delete',
  scope: 'items:write',
  tier: 'destructive',
  input: Closed({ item_id: Described(ItemId, 'Item ID'), profile_id: Described(ProfileId, 'Visualization profile ID') }),
  output: Removed,
  example: { input: { item_id: EXAMPLE_PROFILE.item_id, profile_id: EXAMPLE_PROFILE.id }, output: { ok: true, id: EXAMPLE_PROFILE.id } },
}).handle({
  async check({ db, principal }, { item_id, profile_id }) {
    const { item, project } = await items.requireEditor(db, principal, item_id)
    await visualizationProfiles.requireOf(db, item.seq, profile_id)
    return { item, project }
  },
  async execute({ tx, attributeTo }, { profile_id }, { item, project }) {
    attributeTo(project.organizationId)
    await items.lock(tx, item.seq)
    await visualizationProfiles.remove(tx, item.seq, profile_id)
    return { ok: true as const, id: profile_id }
  },
})
