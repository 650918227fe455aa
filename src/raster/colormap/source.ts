/** The definition of a colormap. */
export interface ColormapSource {
  id: string
  name: string
  /**
   * `position:rrggbb` with positions from 0 to 255 and interpolated colours; without positions, equal steps of one colour each.
   * Omitted for a colormap whose 256 colours are in `tables.ts`.
   */
  stops?: string
}
