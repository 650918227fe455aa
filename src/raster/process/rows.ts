/** Rows of a raster for arithmetic: one array per band, and one mask of the pixels with data. */
import { rasterizeSpans, type RowSpans } from '#raster/geometry/rasterize.ts'
import { readPolygons } from '#raster/geometry/polygon.ts'
import { toNumbers } from '#raster/tiff/masks.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import type { PixelWindow, SampleArray } from '#raster/types.ts'
import type { TargetGrid } from '#raster/warp/plan.ts'
import { RowBuffer } from '#raster/write/rows.ts'
import { ownGrid } from '#raster/write/warp.ts'

/** The part of a raster that a method processes: its grid, its position in the file, and the selected pixels. */
export interface Part {
  readonly grid: TargetGrid
  readonly window: PixelWindow
  readonly spans: RowSpans | null
}

/** A whole raster, or the bounding box of a polygon with everything outside the polygon masked. */
export function partOf(raster: ExactRaster, geometry: unknown): Part {
  const { grid, outline, window } = ownGrid(raster.info, geometry === undefined ? null : readPolygons(geometry))
  return { grid, window: window!, spans: outline && rasterizeSpans(outline, grid) }
}

export interface PlanarRows {
  readonly height: number
  readonly planes: SampleArray[]
  /** 0 = no data. */
  readonly mask: Uint8Array<ArrayBuffer>
}

/** Which pixels are data: those with data in all bands, or in any. */
type Rule = 'all' | 'any'

/** Reads a part from top to bottom, each block of the file once. */
export class RowReader {
  readonly #raster: ExactRaster
  readonly #part: Part
  readonly #bands: readonly number[]
  readonly #rows: RowBuffer
  readonly #rule: Rule

  /** Bands are zero-based. */
  constructor(raster: ExactRaster, part: Part, bands: readonly number[], rule: Rule = 'all') {
    this.#raster = raster
    this.#part = part
    this.#bands = bands
    this.#rule = rule
    const { x, y, width, height } = part.window
    this.#rows = new RowBuffer({ raster, x, width, bands, endY: y + height })
  }

  async read(y: number, count: number, signal: AbortSignal | undefined): Promise<PlanarRows> {
    const { width, y: top } = this.#part.window
    const { samples, mask: known } = await this.#rows.read(top + y, count, signal)
    const numbers = toNumbers(samples)
    const size = width * count
    const planes = this.#bands.map((_, band) => (this.#bands.length === 1 ? numbers : plucked(numbers, this.#bands.length, band, size)))
    const mask = new Uint8Array(size)
    if (this.#part.spans) fillSpans(mask, this.#part.spans, { y, count, width })
    else mask.fill(255)
    if (known) for (let i = 0; i < size; i++) if (known[i] === 0) mask[i] = 0
    this.#dropNodata(planes, mask)
    return { height: count, planes, mask }
  }

  #dropNodata(planes: readonly SampleArray[], mask: Uint8Array): void {
    const { bands, dataType } = this.#raster.info
    const isFloat = dataType.startsWith('float')
    const markers = this.#bands.map((band) => bands[band]?.nodata ?? null)
    if (!isFloat && markers.every((marker) => marker === null)) return
    const missing = this.#rule === 'any' ? new Uint8Array(mask.length) : null
    for (const [band, plane] of planes.entries()) markMissing(plane, markers[band] ?? Number.NaN, { isFloat, mask, missing })
    if (missing) for (let i = 0; i < mask.length; i++) if (missing[i] === planes.length) mask[i] = 0
  }
}

/** Handles missing samples of a band: masks the pixel at once, or counts its missing bands. */
function markMissing(
  plane: SampleArray,
  marker: number,
  { isFloat, mask, missing }: { isFloat: boolean; mask: Uint8Array; missing: Uint8Array | null },
): void {
  for (let i = 0; i < mask.length; i++) {
    const value = plane[i]!
    if (value !== marker && (!isFloat || value - value === 0)) continue
    if (missing) missing[i]! += 1
    else mask[i] = 0
  }
}

function plucked(samples: SampleArray, stride: number, band: number, count: number): SampleArray {
  const out = new (samples.constructor as new (length: number) => SampleArray)(count)
  for (let i = 0, at = band; i < count; i++, at += stride) out[i] = samples[at]!
  return out
}

function fillSpans(mask: Uint8Array, { starts, edges }: RowSpans, { y, count, width }: { y: number; count: number; width: number }): void {
  for (let row = 0; row < count; row++)
    for (let k = starts[y + row]!; k < starts[y + row + 1]!; k++)
      mask.fill(255, row * width + edges[2 * k]!, row * width + edges[2 * k + 1]!)
}

/** Computed planes, as input of the COG writer. */
export function blockOf(planes: readonly SampleArray[], width: number, height: number) {
  return {
    width,
    height,
    bands: planes.map((_, band) => band),
    data: planes,
    starts: planes.map(() => 0),
    stride: 1,
    mask: null,
    byteLength: planes.reduce((sum, plane) => sum + plane.byteLength, 0),
  }
}

/**
 * Two alternating buffers for written rows: a file needs dozens, and allocating costs more than filling. Their content is
 * undefined.
 */
export class TurnedRows<A extends SampleArray> {
  readonly #make: (length: number) => A
  readonly #held: A[] = []
  #turn = 0

  constructor(make: (length: number) => A) {
    this.#make = make
  }

  take(length: number): A {
    this.#turn = 1 - this.#turn
    const held = this.#held[this.#turn]
    if (held?.length === length) return held
    return (this.#held[this.#turn] = this.#make(length))
  }
}
