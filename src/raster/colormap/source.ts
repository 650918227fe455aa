/** A colormap as it is written down. */
export interface ColormapSource {
  id: string
  name: string
  /**
   * `place:rrggbb` with places from 0 to 255, colours between them are mixed; without places, equal steps of one colour each.
   * Left out for a colormap whose 256 colours are in `tables.ts`.
   */
  stops?: string
}
