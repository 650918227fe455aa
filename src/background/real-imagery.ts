import * as hostStates from '#model/vendors/host-state.ts'
import type { Platform } from '#pipeline/platform.ts'

/** Whether an open host with real imagery responded to its last probe. Simulated sources do not count. */
export async function hasRealImagery({ db, services: { vendors } }: Platform): Promise<boolean> {
  const open = vendors.sources.filter(
    ({ accessModel, simulated, collections }) =>
      accessModel === 'open' && !simulated && collections.some(({ id, renderStrategy }) => renderStrategy === 'cog' && isSentinel2(id)),
  )
  if (open.length === 0) return false
  const states = await hostStates.list(db)
  return open.some(({ hostName }) => states.get(hostName)?.status === 'reachable')
}

const isSentinel2 = (collection: string): boolean => collection.startsWith('sentinel-2')
