/** Places whose mosaics can be clipped without owning them: data that the operator gives. */
interface ClipMosaic {
  /** What clips call it: `rgb`, `dem`, … */
  readonly type: string
  readonly title: string
  readonly description: string
  /** A COG that the service reads. */
  readonly url: string
  /** When it was taken, in words or as a date; null where nobody says. */
  readonly acquired: string | null
}

export interface ClipArea {
  readonly id: string
  readonly name: string
  readonly description: string
  /** West, south, east, north. */
  readonly bbox: readonly [number, number, number, number]
  readonly attribution: string
  readonly mosaics: readonly ClipMosaic[]
}
