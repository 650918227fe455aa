/** A colormap as it is written down: its control points in one line. */
export interface ColormapSource {
  id: string
  name: string
  /** `place:rrggbb` with places from 0 to 255, colours between them are mixed; without places, equal steps of one colour each. */
  stops: string
}
