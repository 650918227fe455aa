/** A band of the item's raster, as the service detects it. */
export interface Band {
  index: number
  name: string
  role: string | null
}
