/** The values that a style shows along a line. */
import type { Position } from '#core/geometry.ts'
import type { Context } from '#operation.ts'
import { compileExpression, parseExpression } from '#raster/expression/index.ts'
import { bandsShown } from './legend.ts'
import type { StyledLayer } from './styled-layer.ts'

interface Sample {
  distance_m: number
  longitude: number
  latitude: number
}

type Values = (number | null)[] | null

const SEMI_MAJOR_M = 6_378_137
const ECCENTRICITY_SQUARED = 0.006_694_379_990_14
/** Steps in which the length of a line is added up. */
const MIN_STEPS = 2_000
const radians = (degrees: number) => (degrees * Math.PI) / 180
/** The shorter way around the Earth. */
const eastward = (from: number, to: number) => ((((to - from + 180) % 360) + 360) % 360) - 180

/** Metres of a short step on the WGS 84 ellipsoid. */
function stepM(dx: number, [, y]: Position, dy: number): number {
  const middle = radians(y + dy / 2)
  const squared = 1 - ECCENTRICITY_SQUARED * Math.sin(middle) ** 2
  const acrossM = (SEMI_MAJOR_M / Math.sqrt(squared)) * Math.cos(middle) * radians(dx)
  const alongM = ((SEMI_MAJOR_M * (1 - ECCENTRICITY_SQUARED)) / squared ** 1.5) * radians(dy)
  return Math.hypot(acrossM, alongM)
}

/** Places at equal distances, with both ends. As in GeoJSON, segments are straight in longitude and latitude. */
export function samplesAlong(line: readonly Position[], count: number): Sample[] {
  const steps = Math.max(1, Math.ceil(MIN_STEPS / (line.length - 1)))
  const path: { at: Position; distanceM: number }[] = [{ at: [line[0]![0], line[0]![1]], distanceM: 0 }]
  for (const [index, to] of line.slice(1).entries()) {
    const from = line[index]!
    const [dx, dy] = [eastward(from[0], to[0]) / steps, (to[1] - from[1]) / steps]
    for (let step = 1; step <= steps; step++) {
      const { at, distanceM } = path.at(-1)!
      path.push({ at: [at[0] + dx, from[1] + dy * step], distanceM: distanceM + stepM(dx, at, dy) })
    }
  }
  const lengthM = path.at(-1)!.distanceM
  let next = 1
  return Array.from({ length: count }, (_, index) => {
    const wantedM = (lengthM * index) / (count - 1)
    while (next < path.length - 1 && path[next]!.distanceM < wantedM) next++
    const [before, after] = [path[next - 1]!, path[next]!]
    const spanM = after.distanceM - before.distanceM
    const share = spanM === 0 ? 0 : (wantedM - before.distanceM) / spanM
    const longitude = before.at[0] + (after.at[0] - before.at[0]) * share
    return {
      distance_m: wantedM,
      longitude: eastward(0, longitude),
      latitude: before.at[1] + (after.at[1] - before.at[1]) * share,
    }
  })
}

/** For each place, a value for each band or expression that the style shows; null outside the raster. */
export async function valuesAlong(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  { source, style, info, names }: StyledLayer,
  places: readonly Sample[],
): Promise<Values[]> {
  const points = places.map(({ longitude, latitude }) => ({ longitude, latitude }))
  if (style.kind !== 'expression') return await raster.line(source, { bands: bandsShown(style), places: points }, signal)
  const expression = parseExpression(style.expression, { bandCount: info.bandCount, names: style.names ?? names })
  // An expression without bands still has values only where there are pixels.
  const bands = expression.bands.length > 0 ? expression.bands : [1]
  const rows = await raster.line(source, { bands, places: points }, signal)
  const mask = Uint8Array.from(rows, (row) => (row?.every((value) => value !== null) ? 255 : 0))
  const inputs = expression.bands.map((_, band) => Float64Array.from(rows, (row) => row?.[band] ?? 0))
  const output = compileExpression(expression, { dataType: 'float64' }).run(inputs, mask, rows.length)
  return rows.map((row, index) => row && output.values.map((values) => (output.mask[index] === 0 ? null : values[index]!)))
}
