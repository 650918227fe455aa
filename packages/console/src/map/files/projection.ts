/** Coordinates of a file as longitude and latitude, by the well-known text of its coordinate reference system. */
import { FileProblem, type Polygon, type Position } from './limits.ts'

/** Longitude and latitude on WGS 84, or on a datum within a metre of it. */
const IS_WGS84 = /^\s*GEOG(?:CS|CRS)\s*\[\s*"[^"]*(?:WGS[\s_]*(?:19)?84|GDA2020|GDA94|ETRS89|NAD83|CRS:?84)[^"]*"/i

export async function toWgs84(polygons: readonly Polygon[], wkt: string | null): Promise<Polygon[]> {
  if (wkt === null || IS_WGS84.test(wkt)) return [...polygons]
  const { default: proj4 } = await import('proj4')
  // Files have x before y, whatever the order of the axes of the system.
  const plain = wkt.replaceAll(/,\s*AXIS\s*\[[^\]]*\]/gi, '')
  let inverse: (at: Position) => Position
  try {
    const converter = proj4(plain, 'EPSG:4326')
    inverse = (at) => converter.forward(at) as Position
    inverse([0, 0])
  } catch {
    throw new FileProblem('The coordinate reference system of the file is not supported. Export it as WGS 84 (EPSG:4326).')
  }
  return polygons.map((polygon) => polygon.map((ring) => ring.map((at) => inverse(at))))
}
