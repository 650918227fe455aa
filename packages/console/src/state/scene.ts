/** A scene of any source, or an item of one's own, in one shape. */
export interface Scene {
  key: string
  id: string
  kind: 'catalog' | 'item'
  host: string
  source: string
  product: string | null
  datetime: string | null
  cloud: number | null
  gsd: number | null
  geometry: GeoJSON.Geometry | null
  /** Of the area, 0 to 1. */
  covered: number | null
  creditsPerKm2: number | null
  thumbnail: string | null
  quicklook: string | null
  offNadir: number | null
  sunElevation: number | null
  bands: readonly string[]
  title: string
}
