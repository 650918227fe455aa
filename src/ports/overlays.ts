import type { AreaGeometry } from '#core/geometry.ts'

/**
 * Unions and intersections of areas. Two areas can cross each other hundreds of thousands of times, so this never runs on the
 * event loop: it has a limit of crossings and a deadline, and rotates between organizations.
 */
export interface Overlays {
  /** Null if there are no areas. */
  union(areas: readonly AreaGeometry[], context: OverlayContext): Promise<AreaGeometry | null>
  /** The union of all layers, and how many square kilometres each adds to those before it. */
  layers(
    layers: readonly (readonly AreaGeometry[])[],
    context: OverlayContext,
  ): Promise<{ whole: AreaGeometry; addedSqKm: readonly number[] }>
  /** The part of an area that others cover, and the rest. */
  coverage(area: AreaGeometry, shown: readonly AreaGeometry[], context: OverlayContext): Promise<Coverage>
  close(): Promise<void>
}

export interface OverlayContext {
  /** The organization that the work counts for. */
  readonly organizationId: string
  /** The field that a 422 names if the areas cross each other too often. */
  readonly field: string
}

export interface Coverage {
  readonly covered: AreaGeometry | null
  readonly rest: AreaGeometry | null
}
