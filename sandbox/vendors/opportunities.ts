/** Predicted passes of the sandbox's satellites over a place. */
import type { Position } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import { passesOver } from '../orbits/passes.ts'
import { SATELLITES } from '../orbits/satellites.ts'
import { areaOf, Refusal } from './search.ts'

const MAX_DAYS = 180
const MAX_PASSES = 500

/** For the centre of the area: an orderable area is smaller than a satellite's field of view. */
export async function opportunitiesOf(given: Record<string, unknown>): Promise<{ opportunities: object[] }> {
  const [from, to] = [new Date(String(given['from'])), new Date(String(given['to']))]
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) throw new Refusal('from and to must be timestamps')
  if (to <= from || to.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
    throw new Refusal(`to must be after from, by at most ${MAX_DAYS} days`)
  const angle = given['max_off_nadir_deg']
  const passes = await passesOver(SATELLITES, {
    place: placeOf(given['area']),
    from,
    to,
    limit: Math.min(MAX_PASSES, Number(given['limit'] ?? MAX_PASSES)),
    ...(typeof angle === 'number' ? { maxOffNadirDeg: angle } : {}),
  })
  return {
    opportunities: passes.map(({ noradId, offNadirDeg, sunElevationDeg, ...pass }) => ({
      ...pass,
      norad_id: noradId,
      off_nadir_deg: offNadirDeg,
      sun_elevation_deg: sunElevationDeg,
    })),
  }
}

function placeOf(area: unknown): Position {
  const { type, coordinates } = (area ?? {}) as { type?: unknown; coordinates?: unknown }
  if (type === 'Point' && Array.isArray(coordinates)) return coordinates as Position
  const shape = areaOf(area)
  const positions = (shape.type === 'Polygon' ? shape.coordinates : shape.coordinates.flat()).flat()
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2
  return [middle(positions.map(([x]) => x)), middle(positions.map(([, y]) => y))]
}
