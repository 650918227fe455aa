/** For what stands beside the map and must not wait for it: the map library is half a megabyte. */
import type { Stage } from './stage.ts'

export async function onStage(work: (stage: Stage) => void): Promise<void> {
  const { theStage } = await import('./stage.ts')
  work(theStage())
}
