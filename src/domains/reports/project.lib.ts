import type { Context } from '#operation.ts'
import * as item from '#model/imagery/item-read.ts'
import type { Project } from '#model/identity/project.ts'
import type { ReportDocument, ReportMap } from '#services/documents/report.ts'
import { bytes, counted, day, whole } from './figures.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

/** Items in a report: those of the newest months, for a paper that somebody can still lift. */
const MAX_ITEMS = 500
/** A map of one small item shows some country around it. */
const LEAST_DEGREES = 0.5
const MARGIN = 0.15

/** A project: where its imagery lies, how it grew and what is in it. */
export async function projectBody({ db }: Pick<Context, 'db'>, project: Project): Promise<Body> {
  const { items, total } = await item.list(db, {
    organizationId: project.organizationId,
    projectId: project.id,
    limit: MAX_ITEMS,
    offset: 0,
  })
  const months = counted(items, (each) => (each.datetime ?? each.createdAt).toISOString().slice(0, 7)).toSorted((a, b) =>
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
      { label: 'First scene', value: day(extremeOf(items, 'first')) ?? 'none' },
      { label: 'Latest scene', value: day(extremeOf(items, 'last')) ?? 'none' },
      { label: 'State', value: project.archivedAt ? 'archived' : 'active' },
    ],
    map: mapOf(items),
    charts: [
      { title: 'Scenes by month', unit: 'items', kind: 'bars', points: months.slice(-24) },
      { title: 'By kind', unit: 'items', kind: 'bars', points: counted(items, (each) => each.type.replaceAll('_', ' ')) },
    ],
    tables: [
      {
        title: 'Items, newest first',
        columns: [
          { key: 'name', label: 'Name', share: 3.5 },
          { key: 'type', label: 'Kind', share: 2.2 },
          { key: 'datetime', label: 'Taken', share: 1.6 },
          { key: 'cloud_cover', label: 'Cloud %', isNumber: true, share: 1.3 },
          { key: 'gsd', label: 'GSD m', isNumber: true, share: 1.3 },
          { key: 'id', label: 'Id', share: 5.1 },
        ],
        rows: items.map((each) => [
          each.name,
          each.type.replaceAll('_', ' '),
          day(each.datetime),
          each.cloudCover,
          each.gsd === null ? null : Number(each.gsd.toPrecision(4)),
          each.id,
        ]),
        more: total - items.length,
      },
    ],
  }
}

function extremeOf(items: readonly item.Item[], which: 'first' | 'last'): Date | null {
  const times = items.flatMap(({ datetime }) => (datetime ? [datetime.getTime()] : []))
  return times.length === 0 ? null : new Date(which === 'first' ? Math.min(...times) : Math.max(...times))
}

/** Footprints over land and sea. Those that cross the date line are left to the table. */
function mapOf(items: readonly item.Item[]): ReportMap | null {
  const boxes = items.flatMap(({ bbox }) => (bbox && bbox[0]! < bbox[2]! ? [bbox as [number, number, number, number]] : []))
  if (boxes.length === 0) return null
  const bounds = around([
    Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ])
  return {
    bounds,
    picture: null,
    outlines: boxes.map(outlineOf),
    caption: boxes.length === 1 ? 'Where the item lies' : `Where ${boxes.length} items lie`,
  }
}

type Box = [number, number, number, number]

function around([west, south, east, north]: Box): Box {
  const [dx, dy] = [Math.max(LEAST_DEGREES, (east - west) * MARGIN), Math.max(LEAST_DEGREES, (north - south) * MARGIN)]
  return [Math.max(-180, west - dx), Math.max(-85, south - dy), Math.min(180, east + dx), Math.min(85, north + dy)]
}

const outlineOf = ([west, south, east, north]: Box): [number, number][] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
