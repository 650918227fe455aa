/** For code beside the map that must not wait for it: the map library is half a megabyte. */
import type { SharedMap } from './shared-map.ts'

export async function withSharedMap(work: (shared: SharedMap) => void): Promise<void> {
  const { sharedMap } = await import('./shared-map.ts')
  work(sharedMap())
}
