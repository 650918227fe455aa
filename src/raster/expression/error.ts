import { RasterError } from '#raster/types.ts'

/** An expression that cannot be accepted. `position` counts characters from 1, as people and editors do. */
export class ExpressionError extends RasterError {
  readonly position: number

  /** `advice` follows the place, for example `; the bands are …`. */
  constructor(reason: string, position: number, advice = '') {
    super('invalid_argument', `${reason} at character ${position}${advice}`)
    this.position = position
  }
}
