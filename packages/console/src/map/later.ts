/** For what stands beside the map and must not wait for it: the map library is half a megabyte. */
import type { SharedMap } from './shared-map.ts'

export async function onSharedMap(work: (shared: SharedMap) => void): Promise<void> {
  const { sharedMap } = await import('./shared-map.ts')
  work(sharedMap())
}
