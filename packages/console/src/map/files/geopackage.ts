/** Polygons, points and lines of all feature layers of a GeoPackage, each with its coordinate reference system. */
import { FileProblem, type Budget, type Mark, type Polygon } from './limits.ts'
import { openSqlite } from './sqlite.ts'
import { polygonsOfWkb } from './wkb.ts'

const ENVELOPE_BYTES = [0, 32, 48, 48, 64]
const IS_EMPTY = 0x10

export interface Layer {
  polygons: Polygon[]
  marks: Mark[]
  /** Well-known text of its coordinate reference system; null if unknown. */
  wkt: string | null
}

/** Without marks where only areas are wanted. */
export function layersOfGeoPackage(bytes: Uint8Array, budget: Budget, withMarks: boolean): Layer[] {
  const database = openSqlite(bytes)
  const systems = new Map([...database.rows('gpkg_spatial_ref_sys')].map((row) => [row['srs_id'], row['definition']]))
  const layers = [...database.rows('gpkg_geometry_columns')]
  if (layers.length === 0) throw new FileProblem('The GeoPackage has no vector layers.')
  return layers.map(({ table_name, column_name, srs_id }) => {
    const definition = systems.get(srs_id ?? null)
    const wkt = typeof definition === 'string' && definition !== 'undefined' ? definition : null
    const polygons: Polygon[] = []
    const marks: Mark[] = []
    for (const row of database.rows(String(table_name))) {
      budget.feature()
      const geometry = row[String(column_name).toLowerCase()]
      if (geometry instanceof Uint8Array) polygons.push(...polygonsOfBlob(geometry, budget, withMarks ? marks : null))
    }
    return { polygons, marks, wkt }
  })
}

/** A header of GeoPackage before well-known binary. */
function polygonsOfBlob(blob: Uint8Array, budget: Budget, marks: Mark[] | null): Polygon[] {
  const flags = blob[3] ?? 0
  const envelope = ENVELOPE_BYTES[(flags >> 1) & 7]
  if (blob[0] !== 0x47 || blob[1] !== 0x50 || envelope === undefined)
    throw new FileProblem('A geometry in the GeoPackage is damaged. Export it again.')
  return flags & IS_EMPTY ? [] : polygonsOfWkb(blob.subarray(8 + envelope), budget, marks)
}
