/** Mosaics that every organization can clip, as the operator configures them. */
interface ClipMosaic {
  /** Name in clip requests: `rgb`, `dem`, … */
  readonly type: string
  readonly title: string
  readonly description: string
  /** URL of a COG that the service can read. */
  readonly url: string
  /** Acquisition date, or a description of it; null if unknown. */
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
