import { RasterError } from '#raster/types.ts'

/** An expression that cannot be accepted. `position` counts characters from 1, as people and editors do. */
export class ExpressionError extends RasterError {
  readonly position: number

  constructor(reason: string, position: number) {
    super('invalid_argument', `${reason} at character ${position}`)
    this.position = position
  }
}
