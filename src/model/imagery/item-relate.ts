/** Spatial relations between items and a geometry: PostgreSQL finds those that touch it, and `relate.ts` decides. */
import { sql } from 'kysely'
import { boundsOf } from '#core/position.ts'
import { relatedIn, type Cql2, type Related } from '#core/cql2-tree.ts'
import type { Geometry, Position } from '#core/geometry.ts'
import { mapInTime } from '#core/in-parts.ts'
import { problem } from '#core/problem.ts'
import { holds, shapeOf, type Shape } from '#core/relate.ts'
import type { Db } from '#db/tables.ts'
import { cellsToRead, partsOf, type Bbox } from './footprint.ts'
import { touches } from './item-filter.ts'

/** Of all relations of a filter together; more would take seconds of CPU time. */
const MAX_CANDIDATES = 5_000
/** Pairs of edges compared, for all candidates together. */
const MAX_PAIRS = 20_000_000
const TIMEOUT_MS = 5_000
const QUERY_CANCELED = '57014'

interface Candidate {
  seq: number
  geometry: Geometry
  bbox: number[]
}

const tooMany = (what: string) => problem('bad-request', `The geometry of '${what}; use a smaller geometry, or s_intersects`)

/** The sequence numbers of the items of each relation in a filter, across all projects; the search excludes hidden ones. */
export async function itemsRelated(db: Db, organizationId: string, filter: Cql2): Promise<ReadonlyMap<Cql2, readonly number[]>> {
  const seqsByNode = new Map<Cql2, readonly number[]>()
  let remaining = MAX_CANDIDATES
  for (const node of relatedIn(filter)) {
    const candidates = await touching(db, organizationId, node, remaining)
    remaining -= candidates.length
    if (remaining < 0) throw tooMany(`${node.relation}' touches more than ${MAX_CANDIDATES} items`)
    seqsByNode.set(node, await related(node, candidates))
  }
  return seqsByNode
}

async function related({ relation, geometry }: Related, candidates: readonly Candidate[]): Promise<number[]> {
  const other = shapeOf(geometry)
  const shapes = candidates.map(({ seq, geometry: own, bbox }) => ({ seq, shape: shapeOf(cutIfNeeded(own, bbox as Bbox)) }))
  const pairs = shapes.reduce((sum, { shape }) => sum + pairsOf(shape, other), 0)
  if (pairs > MAX_PAIRS) throw tooMany(`${relation}' needs ${pairs} edge comparisons; the maximum is ${MAX_PAIRS}`)
  const outcome = await mapInTime(shapes, ({ seq, shape }) => (holds(relation, shape, other) ? seq : null))
  return outcome.filter((seq) => seq !== null)
}

const pairsOf = (a: Shape, b: Shape): number => (a.segments.length + 1) * (b.segments.length + 1)

/** A polygon across the date line that was not split, as its box shows, is compared in parts. */
function cutIfNeeded(geometry: Geometry, bbox: Bbox): Geometry {
  if (bbox[0] <= bbox[2] || geometry.type !== 'Polygon') return geometry
  const closed = (part: Position[]): Position[] => [...part, part[0]!]
  return { type: 'MultiPolygon', coordinates: partsOf(geometry, true).map((part) => [closed(part)]) }
}

async function touching(db: Db, organizationId: string, { relation, geometry }: Related, left: number): Promise<Candidate[]> {
  const parts = partsOf(geometry, false)
  const cells = cellsToRead(parts.map((part) => boundsOf(part)))
  try {
    return await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(TIMEOUT_MS)}`.execute(tx)
      const { rows } = await sql<Candidate>`
        select i.seq, i.geometry, i.bbox from item i
        where i.seq = any(array(select distinct seq from item_cell where org_id = ${organizationId} and cell = any(${cells}::int[])))
          and i.org_id = ${organizationId} and i.deleted_at is null and i.geometry is not null and ${touches(parts)}
        limit ${left + 1}
      `.execute(tx)
      return rows
    })
  } catch (error) {
    if ((error as { code?: string }).code !== QUERY_CANCELED) throw error
    throw tooMany(`${relation}' takes too long to compare`)
  }
}
