import { readFile } from 'node:fs/promises'
import { feature } from 'topojson-client'
import type { ReportMap } from './report.ts'
import { COLORS, PAGE, printable, type PageCursor } from './report-page.ts'

const MAP = { width: PAGE.width - 2 * PAGE.margin, height: 210 } as const
const MAX_LATITUDE = 85

type Ring = readonly (readonly [number, number])[]

/** Draws the image with its outlines, or the outlines on a base map, with the bounds in degrees. */
export async function drawMap(cursor: PageCursor, map: ReportMap): Promise<void> {
  cursor.need(MAP.height + 40)
  cursor.y += 6
  const { document } = cursor
  const frame = { x: PAGE.margin, y: cursor.y, width: MAP.width, height: MAP.height }
  const project = projectionOf(map.bounds, frame)
  document.save()
  document.rect(frame.x, frame.y, frame.width, frame.height).clip()
  document.rect(frame.x, frame.y, frame.width, frame.height).fill(map.image ? '#eef1f4' : '#dfeaf1')
  if (!map.image) for (const ring of await land()) if (isNear(ring, map.bounds)) shape(document, ring, project).fill('#f7f5ef')
  if (map.image) {
    const [left, top] = project([map.bounds[0], map.bounds[3]])
    const [right, bottom] = project([map.bounds[2], map.bounds[1]])
    document.image(Buffer.from(map.image.bytes), left, top, { width: right - left, height: bottom - top })
  }
  for (const ring of map.outlines)
    shape(document, ring, project)
      .lineWidth(1)
      .strokeColor(map.image ? '#ffb000' : COLORS.accent)
      .stroke()
  document.restore()
  document.rect(frame.x, frame.y, frame.width, frame.height).lineWidth(0.75).strokeColor(COLORS.line).stroke()
  cursor.y += MAP.height + 5
  const [west, south, east, north] = map.bounds
  const corners = `${degrees(west, 'E', 'W')} to ${degrees(east, 'E', 'W')}, ${degrees(south, 'N', 'S')} to ${degrees(north, 'N', 'S')}`
  document.font('Helvetica').fontSize(8).fillColor(COLORS.soft)
  document.text(printable(`${map.caption}   ${corners}`), PAGE.margin, cursor.y, { width: MAP.width, height: 10, ellipsis: true })
  cursor.y += 18
}

/** Whether a ring is near the map. The frame is wider than the bounds and shows their surroundings. */
function isNear(ring: Ring, [west, south, east, north]: ReportMap['bounds']): boolean {
  const [dx, dy] = [2 * (east - west), 2 * (north - south)]
  const [xs, ys] = [ring.map(([x]) => x), ring.map(([, y]) => y)]
  const isBeside = Math.min(...xs) > east + dx || Math.max(...xs) < west - dx
  return !isBeside && Math.min(...ys) <= north + dy && Math.max(...ys) >= south - dy
}

const degrees = (value: number, positive: string, negative: string): string =>
  `${Math.abs(value).toFixed(3)}° ${value < 0 ? negative : positive}`

interface Frame {
  x: number
  y: number
  width: number
  height: number
}

const mercator = (latitude: number): number =>
  Math.log(Math.tan(Math.PI / 4 + (Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude)) * Math.PI) / 360))

/** Web Mercator, fitted to the frame and centred. */
function projectionOf(
  [west, south, east, north]: ReportMap['bounds'],
  frame: Frame,
): (place: readonly [number, number]) => [number, number] {
  const [width, height] = [((east - west) * Math.PI) / 180, mercator(north) - mercator(south)]
  const scale = Math.min(frame.width / width, frame.height / height)
  const [left, top] = [frame.x + (frame.width - width * scale) / 2, frame.y + (frame.height - height * scale) / 2]
  return ([x, y]) => [left + (((x - west) * Math.PI) / 180) * scale, top + (mercator(north) - mercator(y)) * scale]
}

function shape(
  document: PDFKit.PDFDocument,
  ring: Ring,
  project: (place: readonly [number, number]) => [number, number],
): PDFKit.PDFDocument {
  ring.forEach((place, index) => {
    const [x, y] = project(place)
    if (index === 0) document.moveTo(x, y)
    else document.lineTo(x, y)
  })
  return document.closePath()
}

/** A constant that is read from its file on first use. */
let cachedLand: Promise<Ring[]> | null = null

/** The outer rings of the world's land, read once. */
const land = (): Promise<Ring[]> => (cachedLand ??= readLand())

type Topology = Parameters<typeof feature>[0]

async function readLand(): Promise<Ring[]> {
  const file = new URL(import.meta.resolve('world-atlas/land-50m.json'))
  const topology = JSON.parse(await readFile(file, 'utf8')) as Topology
  const land = feature(topology, topology.objects['land']!)
  const shapes = land.type === 'FeatureCollection' ? land.features : [land]
  return shapes.flatMap(({ geometry }) =>
    geometry.type === 'MultiPolygon'
      ? geometry.coordinates.map((polygon) => polygon[0] as [number, number][])
      : geometry.type === 'Polygon'
        ? [geometry.coordinates[0] as [number, number][]]
        : [],
  )
}
