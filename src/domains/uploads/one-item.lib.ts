/** Files of one scene with one band each, which become one item. */
import type { AreaGeometry } from '#core/geometry.ts'
import { invalidField, Problem } from '#core/problem.ts'
import { freeKey } from '#model/imagery/asset.ts'
import { placeOf, type Place } from '#model/imagery/item-place.ts'
import type { Context } from '#operation.ts'
import { MAX_STACK_BANDS } from '#raster/stack/band.ts'
import { requireOverlap } from '#raster/stack/info.ts'
import type { IngestedFile } from '#services/ingest/intake.ts'

const FIELD = 'as_one_item'

/** Each file has one band, and all cover a common area. */
export function requireOneScene(ingested: readonly IngestedFile[]): void {
  if (ingested.length < 2 || ingested.length > MAX_STACK_BANDS)
    throw invalidField(FIELD, `needs 2 to ${MAX_STACK_BANDS} files; this session has ${ingested.length}`)
  const other = ingested.find(({ info }) => info.bandCount !== 1)
  if (other) throw invalidField(FIELD, `needs files with one band each; ${other.file.name} has ${other.info.bandCount} bands`)
  requireOverlap(
    ingested.map(({ file }) => ({ name: file.name })),
    ingested.map(({ info }) => info),
  )
}

/** The area of all files. Most scenes have files with the same outline, which need no overlay. */
export async function placeOfAll(
  { overlays }: Pick<Context, 'overlays'>,
  organizationId: string,
  ingested: readonly IngestedFile[],
): Promise<Place> {
  const [first, ...others] = ingested.map(({ place }) => place)
  const areas = new Map([first!, ...others].map(({ geometry }) => [JSON.stringify(geometry), geometry as AreaGeometry]))
  if (areas.size === 1) return first!
  try {
    return placeOf(await overlays.union([...areas.values()], { organizationId, field: FIELD }), null)
  } catch (error) {
    // Outlines that cross each other too often: their boxes never do.
    if (!(error instanceof Problem) || error.status !== 422) throw error
    const boxes = [first!, ...others].flatMap(({ bbox }) => (bbox ? [bbox] : []))
    const side = (index: number, pick: (...values: number[]) => number) => pick(...boxes.map((box) => box[index]!))
    return placeOf(null, [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)])
  }
}

const PARTS = /[^A-Za-z0-9]+/
const ENDING = /\.[^.]*$/

/** Asset keys from file names, without their common prefix: `T56_B04.tif` and `T56_B08.tif` give `B04` and `B08`. */
export function keysOf(fileNames: readonly string[]): string[] {
  const names = fileNames.map((name) =>
    name
      .replace(/^.*[/\\]/, '')
      .replace(ENDING, '')
      .split(PARTS)
      .filter(Boolean),
  )
  let common = 0
  while (names.every((parts) => parts.length > common + 1 && parts[common] === names[0]![common])) common++
  const taken = new Set(['data'])
  return names.map((parts) => {
    const key = freeKey(parts.slice(common).join('_').slice(0, MAX_KEY) || 'band', taken)
    taken.add(key)
    return key
  })
}

const MAX_KEY = 200

type Bands = Readonly<Record<string, string>>

const SENTINEL_2: Bands = {
  B01: 'coastal',
  B02: 'blue',
  B03: 'green',
  B04: 'red',
  B05: 'rededge1',
  B06: 'rededge2',
  B07: 'rededge3',
  B08: 'nir',
  B8A: 'nir08',
  B09: 'nir09',
  B10: 'cirrus',
  B11: 'swir16',
  B12: 'swir22',
}
const LANDSAT_8: Bands = {
  B1: 'coastal',
  B2: 'blue',
  B3: 'green',
  B4: 'red',
  B5: 'nir08',
  B6: 'swir16',
  B7: 'swir22',
  B8: 'pan',
  B9: 'cirrus',
  B10: 'lwir11',
  B11: 'lwir12',
}
/** Landsat 4 to 7. */
const LANDSAT_4: Bands = { B1: 'blue', B2: 'green', B3: 'red', B4: 'nir08', B5: 'swir16', B6: 'lwir', B7: 'swir22', B8: 'pan' }
/** The harmonized product writes Landsat's numbers with two digits, and its thermal bands are others. */
const HLS_LANDSAT: Bands = {
  B01: 'coastal',
  B02: 'blue',
  B03: 'green',
  B04: 'red',
  B05: 'nir08',
  B06: 'swir16',
  B07: 'swir22',
  B09: 'cirrus',
  B10: 'lwir11',
  B11: 'lwir12',
}
/** Two digits without a product name: these mean the same in Sentinel-2 and harmonized Landsat. */
const COMMON: Bands = { B01: 'coastal', B02: 'blue', B03: 'green', B04: 'red' }
/** Only Sentinel-2 has these. */
const ONLY_SENTINEL_2 = ['B08', 'B8A', 'B12']

const PRODUCTS: readonly (readonly [name: RegExp, bands: Bands])[] = [
  [/(^|[^A-Za-z0-9])S2[A-D][^A-Za-z0-9]|(^|[^A-Za-z0-9])T\d{2}[A-Z]{3}_\d{8}T\d{6}/, SENTINEL_2],
  [/^HLS\.S30\./, SENTINEL_2],
  [/^HLS\.L30\./, HLS_LANDSAT],
  [/^L[COT]0[89]_/, LANDSAT_8],
  [/^L[TEM]0[4-7]_/, LANDSAT_4],
]

/**
 * Common names of bands, from the names of Sentinel-2 and Landsat files: `LC09_…_SR_B4.TIF` is red. Null for a file whose name
 * leaves a doubt: `B4.tif` is red in Landsat 9 and near infrared in Landsat 5.
 */
export function commonNamesOf(fileNames: readonly string[]): (string | null)[] {
  const names = fileNames.map((name) => name.replace(/^.*[/\\]/, '').replace(ENDING, ''))
  const bands = names.map(bandIn)
  const isSentinel2 = bands.some((band) => band !== null && ONLY_SENTINEL_2.includes(band))
  const found = names.map((name, index) => {
    const product = PRODUCTS.find(([pattern]) => pattern.test(name))?.[1]
    return (product ?? (isSentinel2 ? SENTINEL_2 : COMMON))[bands[index] ?? ''] ?? null
  })
  return found.map((name) => (found.filter((other) => other === name).length === 1 ? name : null))
}

/** The one part of a file name that is a band, as `B04`, `B4` or `B8A`; null if there is none, or more than one. */
function bandIn(name: string): string | null {
  const parts = name.split(PARTS).filter((part) => /^B(\d{1,2}|8A)$/.test(part))
  return parts.length === 1 ? parts[0]! : null
}
