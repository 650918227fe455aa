import { Closed } from '#core/shapes.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MAP, MapId, MapRecord, toRecord } from './wire.ts'

/** One map with its layers, groups, camera and annotations. */
export default operation({
  id: 'maps.get',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ map_id: MapId }),
  output: MapRecord,
  example: { input: { map_id: EXAMPLE_MAP.id }, output: EXAMPLE_MAP },
}).handle({
  async execute({ db, principal }, { map_id }) {
    const { map } = await maps.requireReader(db, principal, map_id)
    return toRecord(map, await maps.sourcesOf(db, map, map.content.layers))
  },
})
