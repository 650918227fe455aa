import type { AreaGeometry } from '#core/geometry.ts'

/**
 * What areas are together, and what one shows of another. Two areas can cross each other hundreds of thousands of times, so
 * this never happens on the event loop: it has a limit of crossings, a deadline, and takes one organization after the other.
 */
export interface Overlays {
  /** Null: there are no areas. */
  union(areas: readonly AreaGeometry[], about: OverlayAbout): Promise<AreaGeometry | null>
  /** Layers on top of each other: what all of them are together, and how many square kilometres each adds to those before. */
  layers(layers: readonly (readonly AreaGeometry[])[], about: OverlayAbout): Promise<{ whole: AreaGeometry; addedSqKm: readonly number[] }>
  /** What areas show of one, and what they leave. */
  coverage(area: AreaGeometry, shown: readonly AreaGeometry[], about: OverlayAbout): Promise<Covered>
  close(): Promise<void>
}

export interface OverlayAbout {
  /** Whose turn it is. */
  readonly organizationId: string
  /** What the areas are called in a 422, where they cross each other too often. */
  readonly field: string
}

export interface Covered {
  readonly covered: AreaGeometry | null
  readonly rest: AreaGeometry | null
}
