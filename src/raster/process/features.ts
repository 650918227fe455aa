import type { Crs, Affine } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'
import type { ByteSink } from '#raster/write/sink.ts'

/** About a centimetre on the ground. */
const LEAST_DECIMALS = 7
const MOST_DECIMALS = 12
/** Rounding moves a vertex by less than a hundredth of a pixel. */
const PIXEL_DECIMALS = 2
const METRES_PER_DEGREE = 111_320
const FLUSH_CHARACTERS = 256 * 1024

/** Writes GeoJSON features one by one, in longitude and latitude. */
export class FeatureWriter {
  readonly #sink: ByteSink
  readonly #project: (x: number, y: number) => Point
  #text = '{"type":"FeatureCollection","features":['
  count = 0
  /** Straight lines in pixels are not straight in longitude and latitude. */
  readonly isBent: boolean

  constructor(sink: ByteSink, crs: Crs, transform: Affine) {
    this.#sink = sink
    this.isBent = crs.kind === 'projected'
    const toLonLat = projectorToLonLat(crs)
    const point: Point = [0, 0]
    const scale = 10 ** decimalsFor(crs, transform)
    this.#project = (column, row) => {
      toLonLat(...applyAffine(transform, column, row), point)
      return [Math.round(point[0] * scale) / scale, Math.round(point[1] * scale) / scale]
    }
  }

  /** Pixels, x and y alternating, as positions. */
  positions(points: readonly number[]): Point[] {
    const out: Point[] = []
    for (let i = 0; i < points.length; i += 2) out.push(this.#project(points[i]!, points[i + 1]!))
    return out
  }

  add(geometry: object, properties: object): void {
    this.#text += `${this.count++ === 0 ? '' : ','}\n${JSON.stringify({ type: 'Feature', properties, geometry })}`
  }

  /** Called between rows: writes the buffered text. */
  async flush(isLast = false): Promise<void> {
    if (isLast) this.#text += '\n]}\n'
    if (!isLast && this.#text.length < FLUSH_CHARACTERS) return
    await this.#sink.write(Buffer.from(this.#text))
    this.#text = ''
  }
}

function decimalsFor({ kind, unit }: Crs, transform: Affine): number {
  const pixel = Math.min(Math.hypot(transform[1], transform[4]), Math.hypot(transform[2], transform[5]))
  const degrees = (pixel * unit) / (kind === 'geographic' ? 1 : METRES_PER_DEGREE)
  return Math.min(MOST_DECIMALS, Math.max(LEAST_DECIMALS, Math.ceil(-Math.log10(degrees)) + PIXEL_DECIMALS))
}
