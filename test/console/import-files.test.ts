// Goal: areas of zipped shapefiles, KMZ and GeoPackages are read as GDAL wrote them, in any usual projection, with holes; and whatever is
// in a hostile file, the reader ends soon, within its limits, and with one sentence.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { FileProblem, type Mark, type Polygon, type Position } from '../../packages/console/src/map/files/limits.ts'
import { readFile } from '../../packages/console/src/map/files/read-file.ts'

const fixture = (name: string) => new Uint8Array(readFileSync(path.join(import.meta.dirname, 'areas', name)))

async function polygonsIn(bytes: Uint8Array): Promise<Polygon[]> {
  const content = await readFile(bytes)
  assert.ok('polygons' in content)
  return content.polygons
}

const HARBOUR: Polygon = [
  [[151.02, -33.08], [151.08, -33.08], [151.08, -33.02], [151.02, -33.02], [151.02, -33.08]],
  [[151.04, -33.06], [151.04, -33.04], [151.06, -33.04], [151.06, -33.06], [151.04, -33.06]],
] // prettier-ignore
const BAY: Polygon = [[[151.1, -33.1], [151.13, -33.1], [151.12, -33.07], [151.1, -33.1]]] // prettier-ignore

/** About a centimetre, which is what coordinates in the files are rounded to. */
const TOLERANCE = 2e-7

/** The same ring can begin anywhere and run in both directions. */
function isSameRing(a: readonly Position[], b: readonly Position[]): boolean {
  if (a.length !== b.length) return false
  const [openA, openB] = [a.slice(0, -1), b.slice(0, -1)]
  const isNear = (p: Position, q: Position) => Math.abs(p[0] - q[0]) < TOLERANCE && Math.abs(p[1] - q[1]) < TOLERANCE
  return [openB, openB.toReversed()].some((ring) =>
    ring.some((_, shift) => openA.every((at, index) => isNear(at, ring[(index + shift) % ring.length]!))),
  )
}

function assertSame(actual: readonly Polygon[], expected: readonly Polygon[]): void {
  assert.equal(actual.length, expected.length)
  for (const polygon of expected) {
    const found = actual.some(
      (other) => other.length === polygon.length && polygon.every((ring) => other.some((another) => isSameRing(ring, another))),
    )
    assert.ok(found, `${JSON.stringify(polygon)} is not in ${JSON.stringify(actual)}`)
  }
}

test('a shapefile in UTM, a GeoPackage in UTM and a KMZ have the same two areas, one with a hole', async () => {
  assertSame(await polygonsIn(fixture('two-areas-utm.zip')), [HARBOUR, BAY])
  assertSame(await polygonsIn(fixture('two-areas-gpkg.zip')), [HARBOUR, BAY])
  const kml = await readFile(fixture('two-areas.kmz'))
  assert.ok('texts' in kml)
  assert.deepEqual(
    kml.texts.map((text) => text.match(/<coordinates>/g)?.length),
    [3],
  )
})

test('a shapefile without its projection is taken as WGS 84 with a notice, or refused if it cannot be', async () => {
  await assert.rejects(readFile(await shapeOf(fixture('two-areas-utm.zip'))), /does not state its projection. Add the .prj file/)
  const content = await readFile(zipOf({ 'bay.shp': { content: shapefileOf(BAY[0]!) } }))
  assert.deepEqual(content, {
    polygons: [BAY],
    marks: [],
    notice: 'The file does not state its coordinate reference system; WGS 84 was assumed.',
  })
})

const hasGdal = (() => {
  try {
    return execFileSync('ogr2ogr', ['--version']).length > 0
  } catch {
    return false
  }
})()

async function marksIn(bytes: Uint8Array): Promise<Mark[]> {
  const content = await readFile(bytes, 'shapes')
  assert.ok('marks' in content)
  assert.deepEqual(content.polygons, [])
  return content.marks
}

const JETTY: Mark = [[151.05, -33.05]]
const BUOY: Mark = [[151.06, -33.07]]
const FERRY: Mark = [[151.1, -33.1], [151.12, -33.07], [151.2, -33.05]] // prettier-ignore
const CABLE: Mark = [[151.3, -33.1], [151.4, -33.2]] // prettier-ignore

test('points and lines of a shapefile are shapes, but no area', async () => {
  const point = zipOf({ 'jetty.shp': { content: shapefileOf(JETTY, 1) } })
  const line = zipOf({ 'ferry.shp': { content: shapefileOf(FERRY, 3) } })
  assert.deepEqual(await marksIn(point), [JETTY])
  assert.deepEqual(await marksIn(line), [FERRY])
  for (const file of [point, line]) await assert.rejects(readFile(file), /no polygons. Lines and points do not enclose an area/)
  const whole = shapefileOf(FERRY, 3)
  const cut = new Uint8Array(whole.slice(0, -16))
  await assert.rejects(readFile(cut, 'shapes'), /shapefile is damaged/)
  const many = new Uint8Array(whole)
  new DataView(many.buffer).setInt32(148, 1_000_000, true)
  await assert.rejects(readFile(many, 'shapes'), /shapefile is damaged/, 'more points than there are bytes')
})

test('points and lines that GDAL exports are imported', { skip: hasGdal ? false : 'ogr2ogr is not installed' }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'marks-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const cases = [
    ['Point', { type: 'Point', coordinates: JETTY[0] }, [JETTY]],
    ['MultiPoint', { type: 'MultiPoint', coordinates: [JETTY[0], BUOY[0]] }, [JETTY, BUOY]],
    ['LineString', { type: 'LineString', coordinates: FERRY }, [FERRY]],
    ['MultiLineString', { type: 'MultiLineString', coordinates: [FERRY, CABLE] }, [FERRY, CABLE]],
  ] as const
  for (const [name, geometry, expected] of cases)
    for (const [driver, ending, crs] of [
      ['ESRI Shapefile', 'shz', 'EPSG:32755'],
      ['GPKG', 'gpkg', 'EPSG:7855'],
    ] as const) {
      const [from, to] = [path.join(folder, `${name}.geojson`), path.join(folder, `${name}.${ending}`)]
      writeFileSync(from, JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', properties: { id: 1 }, geometry }] }))
      execFileSync('ogr2ogr', ['-f', driver, '-t_srs', crs, to, from], { stdio: 'ignore' })
      const marks = await marksIn(new Uint8Array(readFileSync(to)))
      assert.deepEqual(marks.map((mark) => mark.map(([x, y]) => [near(x), near(y)])), expected, `${name} as ${driver}`) // prettier-ignore
    }
})
/** To a metre; files have more digits. */
const near = (value: number) => Math.round(value * 1e5) / 1e5

/** A star around a centre, so that its ring is simple; with a hole if it is large enough. */
const star = (index: number) =>
  fc
    .record({
      radii: fc.array(fc.integer({ min: 50, max: 100 }), { minLength: 3, maxLength: 40 }),
      hasHole: fc.boolean(),
      east: fc.integer({ min: 0, max: 100 }),
    })
    .map(({ radii, hasHole, east }): Polygon => {
      const [x, y] = [149 + index * 0.3 + east / 2_000, -33]
      const ring = (scale: number): Position[] => {
        const points = radii.map((radius, at): Position => {
          const angle = (at / radii.length) * 2 * Math.PI
          return [rounded(x + Math.cos(angle) * radius * scale), rounded(y + Math.sin(angle) * radius * scale)]
        })
        return [...points, points[0]!]
      }
      return hasHole ? [ring(0.001), ring(0.0003)] : [ring(0.001)]
    })
const rounded = (value: number) => Math.round(value * 1e7) / 1e7

test('what GDAL exports is what is imported, in every projection', { skip: hasGdal ? false : 'ogr2ogr is not installed' }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'areas-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const areas = fc.integer({ min: 1, max: 5 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => star(index))))
  const formats = [
    ['ESRI Shapefile', 'shz', 'EPSG:4326'],
    ['ESRI Shapefile', 'shz', 'EPSG:32755'],
    ['ESRI Shapefile', 'shz', 'EPSG:3577'],
    ['GPKG', 'gpkg', 'EPSG:4326'],
    ['GPKG', 'gpkg', 'EPSG:3857'],
    ['GPKG', 'gpkg', 'EPSG:7855'],
  ] as const
  let run = 0
  await fc.assert(
    fc.asyncProperty(areas, fc.constantFrom(...formats), fc.boolean(), async (polygons, [driver, ending, crs], isOneFeature) => {
      const [from, to] = [path.join(folder, `${++run}.geojson`), path.join(folder, `${run}.${ending}`)]
      const geometries = isOneFeature
        ? [{ type: 'MultiPolygon', coordinates: polygons }]
        : polygons.map((coordinates) => ({ type: 'Polygon', coordinates }))
      const features = geometries.map((geometry) => ({ type: 'Feature', properties: { name: 'x'.repeat(300) }, geometry }))
      writeFileSync(from, JSON.stringify({ type: 'FeatureCollection', features }))
      execFileSync('ogr2ogr', ['-f', driver, '-t_srs', crs, '-nlt', 'PROMOTE_TO_MULTI', to, from], { stdio: 'ignore' })
      assertSame(await polygonsIn(new Uint8Array(readFileSync(to))), polygons)
    }),
    { numRuns: 30 },
  )
})

/** A shapefile of one ring, or of one point or line by its type. */
function shapefileOf(ring: readonly Position[], type: 1 | 3 | 5 = 5): Uint8Array {
  if (type === 1) return pointFile(ring[0]!)
  const record = Buffer.alloc(8 + 48 + ring.length * 16)
  record.writeInt32BE(1, 0)
  record.writeInt32BE((record.length - 8) / 2, 4)
  record.writeInt32LE(type, 8)
  record.writeInt32LE(1, 44)
  record.writeInt32LE(ring.length, 48)
  for (const [index, [x, y]] of ring.entries()) {
    record.writeDoubleLE(x, 56 + index * 16)
    record.writeDoubleLE(y, 64 + index * 16)
  }
  return new Uint8Array(Buffer.concat([headerOf(type), record]))
}

function pointFile([x, y]: Position): Uint8Array {
  const record = Buffer.alloc(28)
  record.writeInt32BE(1, 0)
  record.writeInt32BE(10, 4)
  record.writeInt32LE(1, 8)
  record.writeDoubleLE(x, 12)
  record.writeDoubleLE(y, 20)
  return new Uint8Array(Buffer.concat([headerOf(1), record]))
}

function headerOf(type: number): Buffer {
  const header = Buffer.alloc(100)
  header.writeInt32BE(9994, 0)
  header.writeInt32LE(type, 32)
  return header
}

interface ZipEntry {
  content: Uint8Array
  stated?: number
}

/** A ZIP archive, which can state wrong sizes. */
function zipOf(entries: Readonly<Record<string, ZipEntry>>): Uint8Array {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, { content, stated }] of Object.entries(entries)) {
    const packed = deflateRawSync(content)
    const head = Buffer.alloc(26)
    head.writeUInt16LE(20, 0)
    head.writeUInt16LE(8, 4)
    head.writeUInt32LE(crc32(content), 10)
    head.writeUInt32LE(packed.length, 14)
    head.writeUInt32LE(stated ?? content.length, 18)
    head.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), head, rest, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...locals, ...directory, end]))
}

async function shapeOf(zip: Uint8Array): Promise<Uint8Array> {
  const { openZip } = await import('../../packages/console/src/map/files/zip.ts')
  const archive = openZip(zip)
  const name = archive.names.find((each) => each.endsWith('.shp'))
  if (!name) throw new FileProblem('no shape')
  return await archive.read(name)
}

test('archives that unpack to too much, hide nothing usable or are broken are refused with a sentence', async () => {
  const bomb = zipOf({ 'a.shp': { content: new Uint8Array(80 * 1024 * 1024), stated: 10 } })
  assert.ok(bomb.length < 200_000)
  await assert.rejects(readFile(bomb), /Unpacked, the archive has more than 64 MB/)
  const text = (content: string) => ({ content: new TextEncoder().encode(content) })
  await assert.rejects(readFile(zipOf({ 'readme.txt': text('x') })), /no shapefile, KML, GeoPackage or GeoJSON/)
  await assert.rejects(readFile(zipOf({ '__MACOSX/a.shp': text('x') })), /no shapefile/)
  await assert.rejects(readFile(zipOf({ 'a.shp': text('x') })), /shapefile is damaged/)
  await assert.rejects(readFile(new Uint8Array([0x50, 0x4b, 3, 4])), /ZIP archive is damaged/)
  await assert.rejects(readFile(new Uint8Array(0)), /empty/)
  await assert.rejects(readFile(new Uint8Array([1, 0, 2])), /Unknown file format/)
  await assert.rejects(readFile(new Uint8Array(26 * 1024 * 1024)), /larger than 25 MB/)
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`${index}.txt`, text('')]))
  await assert.rejects(readFile(zipOf(many)), /more than 1000 files/)
})

test('a file that is changed anywhere gives areas or a sentence, never another error', async () => {
  const { openZip } = await import('../../packages/console/src/map/files/zip.ts')
  const archive = openZip(fixture('two-areas-gpkg.zip'))
  const files = [
    fixture('two-areas-utm.zip'),
    fixture('two-areas.kmz'),
    await archive.read('two-areas.gpkg'),
    await shapeOf(fixture('two-areas-utm.zip')),
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 1, 127, 128, 255)), { minLength: 1, maxLength: 12 }),
      fc.option(fc.nat()),
      async (file, changes, cut) => {
        const bytes = file.slice(0, cut === null ? file.length : cut % file.length)
        for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
        try {
          const content = await readFile(bytes)
          if ('polygons' in content) for (const [x, y] of content.polygons.flat(2)) assert.ok(Math.abs(x) <= 180 && Math.abs(y) <= 90)
        } catch (error) {
          if (!(error instanceof FileProblem)) throw error
          assert.match(error.message, /^[A-Z].*\.$/)
        }
      },
    ),
    { numRuns: 600 },
  )
})
