/** What is in a file of areas or other shapes: a zipped shapefile, KMZ or GeoPackage by its content, and otherwise text. */
import { layersOfGeoPackage } from './geopackage.ts'
import { Budget, FileProblem, MAX_FILE_BYTES, type Mark, type Polygon } from './limits.ts'
import { toWgs84 } from './projection.ts'
import { isOfPolygons, isShapefile, marksOfShapefile, polygonsOfShapefile } from './shapefile.ts'
import { isSqlite } from './sqlite.ts'
import { openZip, type Archive } from './zip.ts'

/** Polygons, points and lines in WGS 84, or texts that are read elsewhere: KML needs a document, which workers do not have. */
export type FileContent = { polygons: Polygon[]; marks: Mark[]; notice: string | null } | { texts: string[] }
/** For an area, a shapefile of points or lines is the wrong file. */
export type Wanted = 'areas' | 'shapes'

const NO_PROJECTION = 'The file does not state its coordinate reference system; WGS 84 was assumed.'

export async function readFile(bytes: Uint8Array, wanted: Wanted = 'areas'): Promise<FileContent> {
  if (bytes.length > MAX_FILE_BYTES)
    throw new FileProblem(`The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB. Export a smaller area.`)
  if (bytes.length === 0) throw new FileProblem('The file is empty.')
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return await fromZip(openZip(bytes), wanted)
  if (isSqlite(bytes)) return await fromGeoPackage(bytes, wanted)
  if (isShapefile(bytes)) return { ...(await shapesOf(bytes, null, wanted, new Budget())), notice: NO_PROJECTION }
  return { texts: [textOf(bytes)] }
}

async function fromGeoPackage(bytes: Uint8Array, wanted: Wanted): Promise<FileContent> {
  const layers = layersOfGeoPackage(bytes, new Budget(), wanted === 'shapes')
  const read = await Promise.all(layers.map(async ({ polygons, marks, wkt }) => await inDegrees({ polygons, marks }, wkt)))
  const isAssumed = layers.some(({ wkt, polygons, marks }) => wkt === null && polygons.length + marks.length > 0)
  return {
    polygons: read.flatMap(({ polygons }) => polygons),
    marks: read.flatMap(({ marks }) => marks),
    notice: isAssumed ? NO_PROJECTION : null,
  }
}

/** Macs add a folder of hidden files. */
const isHidden = (name: string) => /(?:^|\/)(?:__MACOSX\/|\.)/.test(name)

async function fromZip(archive: Archive, wanted: Wanted): Promise<FileContent> {
  const names = archive.names.filter((name) => !isHidden(name))
  const ending = (pattern: RegExp) => names.filter((name) => pattern.test(name))
  const shapes = ending(/\.shp$/i)
  if (shapes.length > 0) return await fromShapefiles(archive, names, shapes, wanted)
  const [package_] = ending(/\.gpkg$/i)
  if (package_) return await fromGeoPackage(await archive.read(package_), wanted)
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

async function fromShapefiles(archive: Archive, names: readonly string[], shapes: readonly string[], wanted: Wanted): Promise<FileContent> {
  const budget = new Budget()
  const all: Shapes = { polygons: [], marks: [] }
  let notice: string | null = null
  for (const name of shapes) {
    const projection = names.find((other) => other.toLowerCase() === name.toLowerCase().replace(/shp$/, 'prj'))
    const wkt = projection ? textOf(await archive.read(projection)).trim() || null : null
    if (wkt === null) notice = NO_PROJECTION
    const { polygons, marks } = await shapesOf(await archive.read(name), wkt, wanted, budget)
    all.polygons.push(...polygons)
    all.marks.push(...marks)
  }
  return { ...all, notice }
}

interface Shapes {
  polygons: Polygon[]
  marks: Mark[]
}

async function shapesOf(bytes: Uint8Array, wkt: string | null, wanted: Wanted, budget: Budget): Promise<Shapes> {
  const isMarks = wanted === 'shapes' && !isOfPolygons(bytes)
  const read = isMarks
    ? { polygons: [], marks: marksOfShapefile(bytes, budget) }
    : { polygons: polygonsOfShapefile(bytes, budget), marks: [] }
  return await inDegrees(read, wkt)
}

/** Points that are not on the Earth: the projection of the file is missing or wrong. */
async function inDegrees(shapes: Shapes, wkt: string | null): Promise<Shapes> {
  const polygons = await toWgs84(shapes.polygons, wkt)
  // Lists of positions, as polygons are.
  const [marks = []] = await toWgs84([shapes.marks], wkt)
  for (const polygon of [...polygons, marks])
    for (const ring of polygon)
      for (const [x, y] of ring)
        if (!(Math.abs(x) <= 180 && Math.abs(y) <= 90))
          throw new FileProblem(
            wkt === null
              ? 'The coordinates are not degrees, and the file does not state its projection. Add the .prj file, or export as WGS 84.'
              : 'The coordinates do not fit the coordinate reference system of the file. Export it as WGS 84 (EPSG:4326).',
          )
  return { polygons, marks }
}

function textOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const text = new TextDecoder().decode(bytes)
  if (text.includes('\0')) throw new FileProblem('Unknown file format. Use a zipped shapefile, KML, KMZ, GeoPackage, GeoJSON, GPX or WKT.')
  return text
}
