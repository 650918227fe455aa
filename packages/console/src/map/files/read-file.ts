/** What is in a file of areas: a zipped shapefile, KMZ or GeoPackage by its content, and otherwise text. */
import { layersOfGeoPackage } from './geopackage.ts'
import { Budget, FileProblem, MAX_FILE_BYTES, type Polygon } from './limits.ts'
import { toWgs84 } from './projection.ts'
import { isShapefile, polygonsOfShapefile } from './shapefile.ts'
import { isSqlite } from './sqlite.ts'
import { openZip, type Archive } from './zip.ts'

/** Polygons in WGS 84, or texts that are read elsewhere: KML needs a document, which workers do not have. */
export type FileContent = { polygons: Polygon[]; notice: string | null } | { texts: string[] }

const NO_PROJECTION = 'The file does not state its coordinate reference system; WGS 84 was assumed.'

export async function readFile(bytes: Uint8Array): Promise<FileContent> {
  if (bytes.length > MAX_FILE_BYTES)
    throw new FileProblem(`The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB. Export a smaller area.`)
  if (bytes.length === 0) throw new FileProblem('The file is empty.')
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return await fromZip(openZip(bytes))
  if (isSqlite(bytes)) return await fromGeoPackage(bytes)
  if (isShapefile(bytes)) return { polygons: inDegrees(polygonsOfShapefile(bytes, new Budget()), true), notice: NO_PROJECTION }
  return { texts: [textOf(bytes)] }
}

async function fromGeoPackage(bytes: Uint8Array): Promise<FileContent> {
  const layers = layersOfGeoPackage(bytes, new Budget())
  const polygons = await Promise.all(layers.map(async ({ polygons, wkt }) => inDegrees(await toWgs84(polygons, wkt), wkt === null)))
  const isAssumed = layers.some(({ wkt, polygons }) => wkt === null && polygons.length > 0)
  return { polygons: polygons.flat(), notice: isAssumed ? NO_PROJECTION : null }
}

/** Macs add a folder of hidden files. */
const isHidden = (name: string) => /(?:^|\/)(?:__MACOSX\/|\.)/.test(name)

async function fromZip(archive: Archive): Promise<FileContent> {
  const names = archive.names.filter((name) => !isHidden(name))
  const ending = (pattern: RegExp) => names.filter((name) => pattern.test(name))
  const shapes = ending(/\.shp$/i)
  if (shapes.length > 0) return await fromShapefiles(archive, names, shapes)
  const [package_] = ending(/\.gpkg$/i)
  if (package_) return await fromGeoPackage(await archive.read(package_))
  const kml = ending(/\.kml$/i)
  if (kml.length > 0) return { texts: await textsOf(archive, kml) }
  const [text] = [...ending(/\.(?:geo)?json$/i), ...ending(/\.(?:gpx|wkt)$/i)]
  if (text) return { texts: [textOf(await archive.read(text))] }
  throw new FileProblem('The ZIP archive has no shapefile, KML, GeoPackage or GeoJSON.')
}

/** Those with coordinates: a KMZ can have layers in files of their own, and one that only refers to them. */
async function textsOf(archive: Archive, names: readonly string[]): Promise<string[]> {
  const texts: string[] = []
  for (const name of names) texts.push(textOf(await archive.read(name)))
  const withPlaces = texts.filter((text) => text.includes('coordinates'))
  return withPlaces.length > 0 ? withPlaces : texts.slice(0, 1)
}

async function fromShapefiles(archive: Archive, names: readonly string[], shapes: readonly string[]): Promise<FileContent> {
  const budget = new Budget()
  const polygons: Polygon[] = []
  let notice: string | null = null
  for (const name of shapes) {
    const projection = names.find((other) => other.toLowerCase() === name.toLowerCase().replace(/shp$/, 'prj'))
    const wkt = projection ? textOf(await archive.read(projection)).trim() || null : null
    if (wkt === null) notice = NO_PROJECTION
    polygons.push(...inDegrees(await toWgs84(polygonsOfShapefile(await archive.read(name), budget), wkt), wkt === null))
  }
  return { polygons, notice }
}

/** Points that are not on the Earth: the projection of the file is missing or wrong. */
function inDegrees(polygons: Polygon[], isAssumed: boolean): Polygon[] {
  for (const polygon of polygons)
    for (const ring of polygon)
      for (const [x, y] of ring)
        if (!(Math.abs(x) <= 180 && Math.abs(y) <= 90))
          throw new FileProblem(
            isAssumed
              ? 'The coordinates are not degrees, and the file does not state its projection. Add the .prj file, or export as WGS 84.'
              : 'The coordinates do not fit the coordinate reference system of the file. Export it as WGS 84 (EPSG:4326).',
          )
  return polygons
}

function textOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const text = new TextDecoder().decode(bytes)
  if (text.includes('\0')) throw new FileProblem('Unknown file format. Use a zipped shapefile, KML, KMZ, GeoPackage, GeoJSON, GPX or WKT.')
  return text
}
