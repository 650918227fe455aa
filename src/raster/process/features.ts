import type { Crs, Affine } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { projectorToLonLat, type Point } from '#raster/warp/projector.ts'
import type { ByteSink } from '#raster/write/sink.ts'

/** About a centimetre on the ground. */
const DECIMALS = 1e7
const FLUSH_CHARACTERS = 256 * 1024

/** Writes GeoJSON features one after another, in longitude and latitude. */
export class FeatureWriter {
  readonly #sink: ByteSink
  readonly #project: (x: number, y: number) => Point
  #text = '{"type":"FeatureCollection","features":['
  count = 0

  constructor(sink: ByteSink, crs: Crs, transform: Affine) {
    this.#sink = sink
    const toLonLat = projectorToLonLat(crs)
    const point: Point = [0, 0]
    this.#project = (column, row) => {
      toLonLat(...applyAffine(transform, column, row), point)
      return [Math.round(point[0] * DECIMALS) / DECIMALS, Math.round(point[1] * DECIMALS) / DECIMALS]
    }
  }

  /** Pixels, x and y in turn, as positions. */
  positions(points: readonly number[]): Point[] {
    const out: Point[] = []
    for (let i = 0; i < points.length; i += 2) out.push(this.#project(points[i]!, points[i + 1]!))
    return out
  }

  add(geometry: object, properties: object): void {
    this.#text += `${this.count++ === 0 ? '' : ','}\n${JSON.stringify({ type: 'Feature', properties, geometry })}`
  }

  /** Between two rows: writes what has come together. */
  async flush(isLast = false): Promise<void> {
    if (isLast) this.#text += '\n]}\n'
    if (!isLast && this.#text.length < FLUSH_CHARACTERS) return
    await this.#sink.write(Buffer.from(this.#text))
    this.#text = ''
  }
}
