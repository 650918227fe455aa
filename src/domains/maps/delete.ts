import { Closed, Removed } from '#core/shapes.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MAP, MapId } from './wire.ts'

/** Deletes a map. Links to it end; its items and collections stay. */
export default operation({
  id: 'maps.delete',
  scope: 'items:write',
  tier: 'destructive',
  input: Closed({ map_id: MapId }),
  output: Removed,
  example: { input: { map_id: EXAMPLE_MAP.id }, output: { ok: true, id: EXAMPLE_MAP.id } },
}).handle({
  async check({ db, principal }, { map_id }) {
    return (await maps.requireEditor(db, principal, map_id)).map
  },
  async execute({ tx, attributeTo }, _input, map) {
    attributeTo(map.organizationId)
    await maps.remove(tx, map)
    return { ok: true as const, id: map.id }
  },
})
