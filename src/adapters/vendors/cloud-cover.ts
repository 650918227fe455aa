import type { SceneSearch } from '#ports/vendors/catalog.ts'

/** Whether a scene's cloud cover is wanted: hosts filter differently, or not at all. A scene without a value matches no filter. */
export function hasWantedClouds(cover: number | null, wanted: SceneSearch['cloudCover']): boolean {
  if (!wanted) return true
  if (cover === null) return false
  const { operator, percent } = wanted
  return { LT: cover < percent, LTE: cover <= percent, GT: cover > percent, GTE: cover >= percent }[operator]
}
