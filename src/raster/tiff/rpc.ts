import type { Fields } from '#raster/tiff/fields.ts'
import { TAG } from '#raster/tiff/tags.ts'
import type { Gcp } from '#raster/types.ts'

/** A camera model of rational polynomial coefficients: longitude, latitude and height to line and sample. */
export interface RpcModel {
  readonly lineOffset: number
  readonly sampleOffset: number
  readonly latitudeOffset: number
  readonly longitudeOffset: number
  readonly heightOffset: number
  readonly lineScale: number
  readonly sampleScale: number
  readonly latitudeScale: number
  readonly longitudeScale: number
  readonly heightScale: number
  readonly lineNumerator: readonly number[]
  readonly lineDenominator: readonly number[]
  readonly sampleNumerator: readonly number[]
  readonly sampleDenominator: readonly number[]
}

/** Two estimates of its error, ten offsets and scales, four polynomials. */
const TAG_VALUES = 92
const TERMS = 20

/** The model in a file's tag; null if there is no valid one. */
export async function readRpc(fields: Fields): Promise<RpcModel | null> {
  const values = await fields.numbers(TAG.rpcCoefficients)
  if (!values || values.length < TAG_VALUES || !values.every(Number.isFinite)) return null
  const at = (index: number): number => values[index] ?? 0
  const polynomial = (index: number): number[] => values.slice(12 + index * TERMS, 12 + (index + 1) * TERMS)
  const model = {
    lineOffset: at(2),
    sampleOffset: at(3),
    latitudeOffset: at(4),
    longitudeOffset: at(5),
    heightOffset: at(6),
    lineScale: at(7),
    sampleScale: at(8),
    latitudeScale: at(9),
    longitudeScale: at(10),
    heightScale: at(11),
    lineNumerator: polynomial(0),
    lineDenominator: polynomial(1),
    sampleNumerator: polynomial(2),
    sampleDenominator: polynomial(3),
  }
  const scales = [model.lineScale, model.sampleScale, model.latitudeScale, model.longitudeScale]
  return scales.every((scale) => scale !== 0) && Math.abs(model.latitudeOffset) <= 90 ? model : null
}

/** Pixel of a place at the model's mean height; pixel coordinates count from the corner, the model's from the first centre. */
export function rpcPixel(model: RpcModel, longitude: number, latitude: number): [column: number, row: number] {
  const l = (longitude - model.longitudeOffset) / model.longitudeScale
  const p = (latitude - model.latitudeOffset) / model.latitudeScale
  const terms = termsOf(l, p, 0)
  const ratio = (above: readonly number[], below: readonly number[]): number => dot(terms, above) / dot(terms, below)
  return [
    ratio(model.sampleNumerator, model.sampleDenominator) * model.sampleScale + model.sampleOffset + 0.5,
    ratio(model.lineNumerator, model.lineDenominator) * model.lineScale + model.lineOffset + 0.5,
  ]
}

/** In the order of the tag, which is that of the RPC00B extension. */
function termsOf(l: number, p: number, h: number): readonly number[] {
  return [
    1,
    l,
    p,
    h,
    l * p,
    l * h,
    p * h,
    l * l,
    p * p,
    h * h,
    p * l * h,
    l * l * l,
    l * p * p,
    l * h * h,
    l * l * p,
    p * p * p,
    p * h * h,
    l * l * h,
    p * p * h,
    h * h * h,
  ]
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

const SIDE_POINTS = 21
/** Models cover the whole scene, files may hold a part of it: points this far outside still describe its border. */
const REACH = 0.1

/** Points in the image as control points: enough for a fit; none if the model points far outside the image. */
export function rpcControlPoints(model: RpcModel, width: number, height: number): Gcp[] {
  const points: Gcp[] = []
  let [west, south, east, north] = [
    model.longitudeOffset - Math.abs(model.longitudeScale) * 1.2,
    model.latitudeOffset - Math.abs(model.latitudeScale) * 1.2,
    model.longitudeOffset + Math.abs(model.longitudeScale) * 1.2,
    model.latitudeOffset + Math.abs(model.latitudeScale) * 1.2,
  ]
  // Twice: a file with a small part of the scene is first located, then measured.
  for (let round = 0; round < 2; round++) {
    points.length = 0
    for (let i = 0; i < SIDE_POINTS; i++) {
      for (let k = 0; k < SIDE_POINTS; k++) {
        const x = west + ((east - west) * i) / (SIDE_POINTS - 1)
        const y = south + ((north - south) * k) / (SIDE_POINTS - 1)
        const [column, row] = rpcPixel(model, x, y)
        const isNear = column > -REACH * width && column < (1 + REACH) * width && row > -REACH * height && row < (1 + REACH) * height
        if (isNear) points.push({ column, row, x, y })
      }
    }
    if (points.length === 0) return points
    const [stepX, stepY] = [(east - west) / (SIDE_POINTS - 1), (north - south) / (SIDE_POINTS - 1)]
    west = Math.min(...points.map(({ x }) => x)) - stepX
    east = Math.max(...points.map(({ x }) => x)) + stepX
    south = Math.min(...points.map(({ y }) => y)) - stepY
    north = Math.max(...points.map(({ y }) => y)) + stepY
  }
  return points
}
