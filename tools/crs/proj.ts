/**
 * PROJ itself, as WebAssembly with its database, from the npm package `proj-wasm`. It holds the whole EPSG registry
 * (v12.029: 5,708 projected systems and 689 geographic ones in two dimensions), the published datum shifts and their accuracy.
 *
 * The package is no dependency: it is fetched when a table is made, by version and checksum, so that `npm ci` does not
 * grow by 14 MB that only this tool reads. Nothing but the C functions of PROJ is used of it.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

const PACKAGE = 'proj-wasm'
const VERSION = '0.1.0-alpha9'
const SHA512 = '+UlFw7XxZD2jPelQUaNBOV5v3OB4VIFWgLhQCQniGkkzjBtVCIUpEwFJSinmfIPj1BvTEnOLOGBwZ5sVt1Ee8g=='
const FETCH_TIMEOUT_MS = 180_000

export type Point = readonly [x: number, y: number]

/** The part of PROJJSON that the tables need. */
export interface SystemInfo {
  name: string
  id?: { code: number }
  base_crs?: SystemInfo
  source_crs?: SystemInfo
  bbox?: Box
  usages?: { bbox?: Box }[]
  coordinate_system?: unknown
}

interface Box {
  west_longitude: number
  south_latitude: number
  east_longitude: number
  north_latitude: number
}

/** One published way from a system to WGS 84: its name, its accuracy in metres (null: not stated) and its steps. */
export interface Shift {
  name: string
  accuracyM: number | null
  pipeline: string
}

export interface Proj {
  /** The proj4 text and the description of an EPSG code; null where PROJ has none. */
  system(code: number): { proj4: string; info: SystemInfo } | null
  /** Ways to WGS 84 that need no file of ours, in PROJ's order. */
  shiftsToWgs84(code: number): Shift[]
  /** Longitudes and eastings come first on both sides; null for points that PROJ cannot transform, or for all where it knows no way. */
  transform(source: string, target: string, points: readonly Point[]): (Point | null)[] | null
  /** The other way: from `target` to `source`. */
  transformBack(source: string, target: string, points: readonly Point[]): (Point | null)[] | null
}

/** The C functions take and give addresses and numbers; texts end with a zero byte. */
interface Library {
  FS: { mkdir(folder: string): void; writeFile(file: string, bytes: Uint8Array): void }
  HEAPU8: Uint8Array
  HEAPF64: Float64Array
  UTF8ToString(address: number): string
  _malloc(bytes: number): number
  _free(address: number): void
  _proj_context_create(): number
  _proj_context_set_database_path(context: number, file: number, more: number, options: number): number
  _proj_context_set_enable_network(context: number, enabled: number): number
  _proj_create(context: number, text: number): number
  _proj_destroy(object: number): void
  _proj_as_proj_string(context: number, object: number, type: number, options: number): number
  _proj_as_projjson(context: number, object: number, options: number): number
  _proj_get_name(object: number): number
  _proj_create_operation_factory_context(context: number, authority: number): number
  _proj_operation_factory_context_set_spatial_criterion(context: number, factory: number, criterion: number): void
  _proj_operation_factory_context_set_grid_availability_use(context: number, factory: number, use: number): void
  _proj_operation_factory_context_destroy(factory: number): void
  _proj_create_operations(context: number, source: number, target: number, factory: number): number
  _proj_list_get_count(list: number): number
  _proj_list_get(context: number, list: number, index: number): number
  _proj_list_destroy(list: number): void
  _proj_coordoperation_get_accuracy(context: number, operation: number): number
  _proj_create_crs_to_crs_from_pj(context: number, source: number, target: number, area: number, options: number): number
  _proj_normalize_for_visualization(context: number, operation: number): number
  _proj_trans_array(operation: number, direction: number, count: number, coordinates: number): number
}

const PROJ_STRING_5 = 0
const PROJ_STRING_4 = 1
const PARTIAL_INTERSECTION = 1
const DISCARD_IF_GRID_MISSING = 1
const FORWARD = 1
const BACK = -1
const COORDINATE_BYTES = 32
const POINTER_BYTES = 4
/** What C calls HUGE_VAL: a point of no particular year. */
const NO_TIME = Infinity

/** Every code of the EPSG registry that stands for a map or for longitudes and latitudes, old ones too. */
export function registryCodes(): { code: number; isGeographic: boolean }[] {
  const database = new DatabaseSync(path.join(fetchPackage(), 'proj.db'), { readOnly: true })
  const rows = database
    .prepare("SELECT code, type FROM crs_view WHERE auth_name = 'EPSG' AND type IN ('projected', 'geographic 2D', 'geographic 3D')")
    .all()
  database.close()
  return rows.map(({ code, type }) => ({ code: Number(code), isGeographic: type !== 'projected' })).sort((a, b) => a.code - b.code)
}

/** Codes that the registry has withdrawn, with the one that it names instead; those with several are left as they are. */
export function replacements(): ReadonlyMap<number, number> {
  const database = new DatabaseSync(path.join(fetchPackage(), 'proj.db'), { readOnly: true })
  const rows = database
    .prepare(
      "SELECT deprecated_code AS old, min(replacement_code) AS new FROM deprecation WHERE deprecated_auth_name = 'EPSG' AND " +
        "replacement_auth_name = 'EPSG' AND table_name IN ('projected_crs', 'geodetic_crs') GROUP BY deprecated_code HAVING count(*) = 1",
    )
    .all()
  database.close()
  return new Map(rows.map((row) => [Number(row['old']), Number(row['new'])]))
}

/** The conversion of each map, by which GeoTIFF may name a projection without its datum. */
export function conversionCodes(): ReadonlyMap<number, number> {
  const database = new DatabaseSync(path.join(fetchPackage(), 'proj.db'), { readOnly: true })
  const rows = database
    .prepare("SELECT code, conversion_code FROM projected_crs WHERE auth_name = 'EPSG' AND conversion_auth_name = 'EPSG'")
    .all()
  database.close()
  return new Map(rows.map(({ code, conversion_code }) => [Number(code), Number(conversion_code)]))
}

/** The names that ArcGIS gives to systems of longitudes and latitudes: its WKT has no codes. */
export function esriNames(): { name: string; code: number }[] {
  const database = new DatabaseSync(path.join(fetchPackage(), 'proj.db'), { readOnly: true })
  const rows = database
    .prepare(
      'SELECT alt_name, a.code FROM alias_name a JOIN geodetic_crs g ON g.auth_name = a.auth_name AND g.code = a.code AND g.type = ' +
        "'geographic 2D' WHERE a.table_name = 'geodetic_crs' AND a.auth_name = 'EPSG' AND a.source = 'ESRI' ORDER BY g.deprecated " +
        'DESC, alt_name',
    )
    .all()
  database.close()
  return rows.map(({ alt_name, code }) => ({ name: String(alt_name), code: Number(code) }))
}

/** Fetches the package once and keeps it in the folder for temporary files. */
function fetchPackage(): string {
  const folder = path.join(tmpdir(), `${PACKAGE}-${VERSION}`)
  if (existsSync(folder)) return path.join(folder, 'package/dist')
  const work = mkdtempSync(path.join(tmpdir(), `${PACKAGE}-`))
  execFileSync('npm', ['pack', `${PACKAGE}@${VERSION}`, '--silent', '--pack-destination', work], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: FETCH_TIMEOUT_MS,
  })
  const archive = path.join(work, `${PACKAGE}-${VERSION}.tgz`)
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64')
  if (digest !== SHA512) throw new Error(`${PACKAGE} ${VERSION} has the checksum ${digest}, not the one it had when this tool was written`)
  mkdirSync(path.join(work, 'open'))
  execFileSync('tar', ['-xzf', archive, '-C', path.join(work, 'open')])
  renameSync(path.join(work, 'open'), folder)
  rmSync(work, { recursive: true })
  return path.join(folder, 'package/dist')
}

export async function openProj(): Promise<Proj> {
  const folder = fetchPackage()
  const module = (await import(pathToFileURL(path.join(folder, 'proj-emscripten.js')).href)) as {
    default(options: { locateFile(name: string): string; printErr(text: string): void }): Promise<Library>
  }
  // PROJ reports each missing grid file; the tables are made without them.
  const library = await module.default({ locateFile: (name) => path.join(folder, name), printErr: () => undefined })
  library.FS.mkdir('/proj')
  library.FS.writeFile('/proj/proj.db', readFileSync(path.join(folder, 'proj.db')))
  const context = library._proj_context_create()
  const opened = withText(library, '/proj/proj.db', (file) => library._proj_context_set_database_path(context, file, 0, 0))
  if (!opened) throw new Error("PROJ's database cannot be opened")
  library._proj_context_set_enable_network(context, 0)
  const shifts = new Map<number, Shift[]>()
  return {
    system: (code) => system(library, context, code),
    shiftsToWgs84: (code) => {
      const known = shifts.get(code) ?? shiftsToWgs84(library, context, code)
      shifts.set(code, known)
      return known
    },
    transform: (source, target, points) => transform(library, context, { source, target }, points, FORWARD),
    transformBack: (source, target, points) => transform(library, context, { source, target }, points, BACK),
  }
}

/** The address that a function of PROJ gives; 0 where it throws, which this build does not always turn into an error code. */
function attempt(call: () => number): number {
  try {
    return call()
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('osgeo::proj')) return 0
    throw error
  }
}

function withText<T>(library: Library, text: string, use: (address: number) => T): T {
  const bytes = Buffer.from(`${text}\0`)
  const address = library._malloc(bytes.length)
  library.HEAPU8.set(bytes, address)
  try {
    return use(address)
  } finally {
    library._free(address)
  }
}

function withObject<T>(library: Library, context: number, text: string, use: (object: number) => T): T | null {
  const object = withText(library, text, (address) => attempt(() => library._proj_create(context, address)))
  if (!object) return null
  try {
    return use(object)
  } finally {
    library._proj_destroy(object)
  }
}

function system(library: Library, context: number, code: number): ReturnType<Proj['system']> {
  return withObject(library, context, `EPSG:${code}`, (object) => {
    const proj4 = attempt(() => library._proj_as_proj_string(context, object, PROJ_STRING_4, 0))
    const info = library._proj_as_projjson(context, object, 0)
    if (!proj4 || !info) return null
    return { proj4: library.UTF8ToString(proj4), info: JSON.parse(library.UTF8ToString(info)) as SystemInfo }
  })
}

function shiftsToWgs84(library: Library, context: number, code: number): Shift[] {
  const factory = library._proj_create_operation_factory_context(context, 0)
  library._proj_operation_factory_context_set_spatial_criterion(context, factory, PARTIAL_INTERSECTION)
  library._proj_operation_factory_context_set_grid_availability_use(context, factory, DISCARD_IF_GRID_MISSING)
  const system = withObject(library, context, `EPSG:${code}`, (source) =>
    withObject(library, context, 'EPSG:4326', (target) => {
      const list = library._proj_create_operations(context, source, target, factory)
      const shifts: Shift[] = []
      for (let i = 0; i < library._proj_list_get_count(list); i++) {
        const operation = library._proj_list_get(context, list, i)
        const accuracy = library._proj_coordoperation_get_accuracy(context, operation)
        const name = library.UTF8ToString(library._proj_get_name(operation))
        const pipeline = attempt(() => library._proj_as_proj_string(context, operation, PROJ_STRING_5, 0))
        if (pipeline) shifts.push({ name, accuracyM: accuracy < 0 ? null : accuracy, pipeline: library.UTF8ToString(pipeline) })
        library._proj_destroy(operation)
      }
      library._proj_list_destroy(list)
      return shifts
    }),
  )
  library._proj_operation_factory_context_destroy(factory)
  return system ?? []
}

/** Finding a way between two systems takes longer than anything else here, so all are kept. */
const ways = new Map<string, number>()

function wayBetween(library: Library, context: number, { source, target }: Way, option: string): number {
  const key = `${source}>${target} ${option}`
  let operation = ways.get(key)
  if (operation === undefined) {
    operation = findWay(library, context, { source, target }, option)
    ways.set(key, operation)
  }
  return operation
}

interface Way {
  source: string
  target: string
}

function findWay(library: Library, context: number, { source, target }: Way, option: string): number {
  const plain = withObject(library, context, source, (from) =>
    withObject(library, context, target, (to) =>
      withText(library, option, (text) => {
        const list = library._malloc(2 * POINTER_BYTES)
        new Uint32Array(library.HEAPU8.buffer, list, 2).set([text, 0])
        const operation = attempt(() => library._proj_create_crs_to_crs_from_pj(context, from, to, 0, list))
        library._free(list)
        return operation
      }),
    ),
  )
  if (!plain) return 0
  const operation = library._proj_normalize_for_visualization(context, plain)
  library._proj_destroy(plain)
  return operation
}

/**
 * Where a datum has published shifts, places outside their areas have no answer instead of one that leaves the datum out, which
 * PROJ calls a ballpark. A datum without any has nothing better.
 */
const OPTIONS = ['ALLOW_BALLPARK=NO', 'ALLOW_BALLPARK=YES']

type Direction = typeof FORWARD | typeof BACK

function transform(library: Library, context: number, way: Way, points: readonly Point[], direction: Direction): (Point | null)[] | null {
  for (const option of OPTIONS) {
    const operation = wayBetween(library, context, way, option)
    const transformed = operation ? transformBy(library, operation, points, direction) : []
    if (transformed.some((point) => point !== null)) return transformed
  }
  return null
}

function transformBy(library: Library, operation: number, points: readonly Point[], direction: Direction): (Point | null)[] {
  const address = library._malloc(points.length * COORDINATE_BYTES)
  points.forEach(([x, y], i) => library.HEAPF64.set([x, y, 0, NO_TIME], address / 8 + i * 4))
  library._proj_trans_array(operation, direction, points.length, address)
  const result = points.map((_, i): Point | null => {
    const [x, y] = [library.HEAPF64[address / 8 + i * 4]!, library.HEAPF64[address / 8 + i * 4 + 1]!]
    return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : null
  })
  library._free(address)
  return result
}
