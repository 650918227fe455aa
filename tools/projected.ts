/**
 * Makes the table of coordinate reference systems and the points that test it:
 *   src/raster/crs/data/epsg.txt.br and test/golden/crs-control.json.br
 *
 *   node tools/projected.ts            writes them
 *   node tools/projected.ts 4326 3857  writes the rows of these codes anew and leaves the others
 *   node tools/projected.ts --compare  writes nothing, says in which rows what it finds differs from what stands there
 *
 * The source is PROJ's own database (tools/crs/proj.ts), which has every code of the EPSG registry. Each row is compared with PROJ
 * without grid files: one that is more than a metre off says how far, and a code that the library cannot compute says why.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { choose, clean, type Chosen, type ControlPoint } from './crs/choose.ts'
import { conversionCodes, esriNames, openProj, registryCodes, replacements, type Proj } from './crs/proj.ts'

interface Tables {
  /** The lines of the table, by code. */
  rows: Map<number, string>
  datums: Map<string, number>
  control: Map<number, ControlPoint[]>
  counts: { exact: number; marked: number; refused: number; unshifted: number }
}

const root = path.dirname(import.meta.dirname)
const TABLE = path.join(root, 'src/raster/crs/data/epsg.txt.br')
const CONTROL = path.join(root, 'test/golden/crs-control.json.br')
const TOLERANCE_M = 1
/** Fields of a row before its conversion. */
const ROW_FIELDS = 6

function makeTables(proj: Proj): Tables {
  const tables: Tables = {
    rows: new Map(),
    datums: new Map(),
    control: new Map(),
    counts: { exact: 0, marked: 0, refused: 0, unshifted: 0 },
  }
  const only = process.argv.slice(2).map(Number).filter(Number.isInteger)
  if (only.length > 0) loadTables(tables)
  for (const { code, isGeographic } of registryCodes())
    if (only.length === 0 || only.includes(code)) addCode(proj, tables, code, isGeographic)
  replaceWithdrawn(tables)
  return tables
}

/**
 * A code is withdrawn when its numbers were wrong (an offset in feet taken for metres, say). Files under it were made with the right
 * ones, and GDAL reads them so.
 */
function replaceWithdrawn({ rows, control }: Tables): void {
  for (const [code, replacement] of replacements()) {
    const row = rows.get(replacement)
    if (!row || !rows.has(code) || row.includes('\t!')) continue
    rows.set(code, [code, ...row.split('\t').slice(1)].join('\t'))
    control.set(code, control.get(replacement) ?? [])
  }
}

/** What stands there already. */
function loadTables({ rows, datums, control }: Tables): void {
  const [figures = '', lines = ''] = brotliDecompressSync(readFileSync(TABLE)).toString().split('\n\n')
  for (const figure of figures.split('\n')) datums.set(figure, datums.size)
  for (const line of lines.split('\n')) rows.set(Number.parseInt(line, 10), line.split('\t').slice(0, ROW_FIELDS).join('\t'))
  const points = JSON.parse(brotliDecompressSync(readFileSync(CONTROL)).toString()) as Record<string, ControlPoint[]>
  for (const [code, list] of Object.entries(points)) control.set(Number(code), list)
}

function addCode(proj: Proj, tables: Tables, code: number, isGeographic: boolean): void {
  const system = proj.system(code)
  const name = system?.info.name ?? `EPSG:${code}`
  const chosen = system ? rowOf(proj, code, system, isGeographic) : 'PROJ has no plain form of it'
  if (typeof chosen === 'string') {
    tables.counts.refused++
    console.error(`${code} ${name}: ${chosen}`)
    tables.rows.set(code, `${code}\t${name}\t!${chosen}`)
    tables.control.delete(code)
    return
  }
  const datum = tables.datums.get(chosen.figure) ?? tables.datums.size
  tables.datums.set(chosen.figure, datum)
  const isMarked = chosen.deviationM > TOLERANCE_M
  tables.counts[isMarked ? 'marked' : 'exact']++
  if (chosen.accuracyM === null) tables.counts.unshifted++
  if (isMarked) console.error(`${code} ${name}: ${chosen.deviationM.toFixed(1)} m from PROJ`)
  const projection = isGeographic ? '' : chosen.projection
  const deviation = isMarked ? String(Math.ceil(chosen.deviationM)) : ''
  tables.rows.set(code, [code, name, projection, datum, chosen.accuracyM ?? '', deviation].join('\t'))
  tables.control.set(code, chosen.control)
}

function rowOf(proj: Proj, code: number, { proj4, info }: NonNullable<ReturnType<Proj['system']>>, isGeographic: boolean): Chosen | string {
  if (isGeographic && !proj4.includes('longlat')) return 'it is not in longitude and latitude'
  if (isGeographic && /"grad"/.test(JSON.stringify(info.coordinate_system))) return 'its longitudes and latitudes are in grads'
  return choose(proj, code, clean(proj4), info)
}

/** Figures, then rows, then the names of ArcGIS, with an empty line between. */
function textOf({ rows, datums }: Tables): string {
  const names = esriNames().map(({ name, code }) => `${name}\t${code}`)
  const conversions = conversionCodes()
  // The conversion of a withdrawn code is as wrong as the code.
  const withdrawn = replacements()
  const withConversion = [...rows].map(([code, row]) =>
    row.includes('\t!') ? row : `${row}\t${withdrawn.has(code) ? '' : (conversions.get(code) ?? '')}`,
  )
  return [[...datums.keys()], withConversion, names].map((lines) => `${lines.join('\n')}\n`).join('\n')
}

const compressed = (text: string): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 } })

function write(tables: Tables): void {
  writeFileSync(TABLE, compressed(textOf(tables)))
  const points = [...tables.control].map(([code, list]) => `"${code}":[${list.map((point) => `[${point.join(',')}]`).join(',')}]`)
  writeFileSync(CONTROL, compressed(`{\n${points.join(',\n')}\n}\n`))
}

function compare(tables: Tables): void {
  const lines = existsSync(TABLE) ? brotliDecompressSync(readFileSync(TABLE)).toString().split('\n') : []
  const now = textOf(tables).split('\n')
  const [before, after] = [new Set(lines), new Set(now)]
  for (const line of lines) if (!after.has(line)) console.log(`- ${line}`)
  for (const line of now) if (!before.has(line)) console.log(`+ ${line}`)
}

const tables = makeTables(await openProj())
console.log(`${tables.rows.size} codes:`, tables.counts, `${tables.datums.size} figures`)
if (process.argv.includes('--compare')) compare(tables)
else write(tables)
