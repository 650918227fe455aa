import type { Context } from '#operation.ts'
import * as items from '#model/imagery/item-read.ts'
import type { Project } from '#model/identity/project.ts'
import type { ReportDocument, ReportMap } from '#services/documents/report.ts'
import { bytes, countBy, day, whole } from './figures.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

/** The newest items; more would make the report too long to print. */
const MAX_ITEMS = 500
/** Minimum margin, so that the map of a small item shows its surroundings. */
const MIN_MARGIN_DEGREES = 0.5
const MARGIN = 0.15

/** A project with a map of its imagery, its growth and its items. */
export async function projectBody({ db }: Pick<Context, 'db'>, project: Project): Promise<Body> {
  const { items: page, total } = await items.list(db, {
    organizationId: project.organizationId,
    projectId: project.id,
    limit: MAX_ITEMS,
    offset: 0,
  })
  const months = countBy(page, (item) => (item.datetime ?? item.createdAt).toISOString().slice(0, 7)).toSorted((a, b) =>
    a.label.localeCompare(b.label),
  )
  return {
    title: project.name,
    subject: project.description ?? 'Project report',
    period: null,
    facts: [
      { label: 'Items', value: whole(project.itemCount) },
      { label: 'Stored', value: bytes(project.storageBytes) },
      { label: 'Created', value: day(project.createdAt)! },
      { label: 'First scene', value: day(extremeOf(page, 'first')) ?? 'none' },
      { label: 'Latest scene', value: day(extremeOf(page, 'last')) ?? 'none' },
      { label: 'Status', value: project.archivedAt ? 'archived' : 'active' },
    ],
    map: mapOf(page),
    charts: [
      { title: 'Scenes by month', unit: 'items', kind: 'bars', points: months.slice(-24) },
      { title: 'By type', unit: 'items', kind: 'bars', points: countBy(page, (item) => item.type.replaceAll('_', ' ')) },
    ],
    tables: [
      {
        title: 'Items, newest first',
        columns: [
          { key: 'name', label: 'Name', share: 3.5 },
          { key: 'type', label: 'Type', share: 2.2 },
          { key: 'datetime', label: 'Acquired', share: 1.6 },
          { key: 'cloud_cover', label: 'Cloud %', isNumber: true, share: 1.3 },
          { key: 'gsd', label: 'GSD m', isNumber: true, share: 1.3 },
          { key: 'id', label: 'ID', share: 5.1 },
        ],
        rows: page.map((item) => [
          item.name,
          item.type.replaceAll('_', ' '),
          day(item.datetime),
          item.cloudCover,
          item.gsd === null ? null : Number(item.gsd.toPrecision(4)),
          item.id,
        ]),
        more: total - page.length,
      },
    ],
  }
}

function extremeOf(rows: readonly items.Item[], end: 'first' | 'last'): Date | null {
  const times = rows.flatMap(({ datetime }) => (datetime ? [datetime.getTime()] : []))
  return times.length === 0 ? null : new Date(end === 'first' ? Math.min(...times) : Math.max(...times))
}

/** Footprints on a base map. Those that cross the antimeridian are only in the table. */
function mapOf(rows: readonly items.Item[]): ReportMap | null {
  const boxes = rows.flatMap(({ bbox }) => (bbox && bbox[0]! < bbox[2]! ? [bbox as [number, number, number, number]] : []))
  if (boxes.length === 0) return null
  const bounds = around([
    Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ])
  return {
    bounds,
    image: null,
    outlines: boxes.map(outlineOf),
    caption: boxes.length === 1 ? 'Footprint of the item' : `Footprints of ${boxes.length} items`,
  }
}

type Box = [number, number, number, number]

function around([west, south, east, north]: Box): Box {
  const [dx, dy] = [Math.max(MIN_MARGIN_DEGREES, (east - west) * MARGIN), Math.max(MIN_MARGIN_DEGREES, (north - south) * MARGIN)]
  return [Math.max(-180, west - dx), Math.max(-85, south - dy), Math.min(180, east + dx), Math.min(85, north + dy)]
}

const outlineOf = ([west, south, east, north]: Box): [number, number][] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
