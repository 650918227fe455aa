import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'

export interface Entity {
  type: string
  id: string
}

export interface Recorded {
  entity: Entity
  relation: string
  /** Null for an artifact at the head of its line, such as a project. */
  origin: Entity | null
}

/** Writes nodes and edges of one invocation. An origin that is no artifact of this organization is a bug of the caller. */
export async function write(tx: Tx, organizationId: string, invocationId: string, records: readonly Recorded[], now: Date): Promise<void> {
  for (const { entity, relation, origin } of records) {
    const from = origin ? await node(tx, organizationId, origin) : null
    if (origin && !from) throw new Error(`lineage: the origin ${origin.type} ${origin.id} was never recorded`)
    const projectId = entity.type === 'project' ? entity.id : origin?.type === 'project' ? origin.id : (from?.project_id ?? null)
    await tx
      .insertInto('lineage_node')
      .values({ org_id: organizationId, project_id: projectId, entity_type: entity.type, entity_id: entity.id, invocation_id: invocationId, created_at: now })
      .onConflict((conflict) => conflict.columns(['org_id', 'entity_type', 'entity_id']).doNothing())
      .execute()
    if (!from) continue
    const self = (await node(tx, organizationId, entity))!
    await tx
      .insertInto('lineage_edge')
      .values({ src_seq: self.seq, dst_seq: from.seq, relation, invocation_id: invocationId, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

async function node(db: Db, organizationId: string, entity: Entity): Promise<{ seq: number; project_id: string | null } | null> {
  const row = await db.selectFrom('lineage_node').select(['seq', 'project_id']).where('org_id', '=', organizationId).where('entity_type', '=', entity.type).where('entity_id', '=', entity.id).executeTakeFirst()
  return row ?? null
}

/** The project that holds an artifact, so that its readers may see the lineage; undefined when the artifact is unknown. */
export async function projectOf(db: Db, organizationId: string, entity: Entity): Promise<string | null | undefined> {
  return (await node(db, organizationId, entity))?.project_id
}

export type Direction = 'up' | 'down' | 'both'

export interface Edge {
  depth: number
  src_type: string
  src_id: string
  dst_type: string
  dst_id: string
  relation: string
  invocation_id: string
}

export interface Graph {
  edges: Edge[]
  nodes: { entity_type: string; entity_id: string; depth: number }[]
  truncated: boolean
}

export const MAX_EDGES = 5_000

/** Walks level by level from the root: `up` to the origins, `down` to what was made of it. */
export async function graph(db: Db, organizationId: string, root: Entity, walk: { direction: Direction; maxDepth: number }): Promise<Graph> {
  const start = await node(db, organizationId, root)
  const depths = new Map<number, { entity: Entity; depth: number }>()
  if (start) depths.set(start.seq, { entity: root, depth: 0 })
  const edges = new Map<string, Edge>()
  let truncated = false
  for (const direction of ['up', 'down'] as const) {
    if (walk.direction !== direction && walk.direction !== 'both') continue
    let frontier = start ? [start.seq] : []
    const visited = new Set(frontier)
    for (let depth = 1; depth <= walk.maxDepth && frontier.length > 0 && !truncated; depth++) {
      const rows = await step(db, frontier, direction)
      frontier = []
      for (const row of rows) {
        if (edges.size >= MAX_EDGES) { truncated = true; break }
        edges.set(`${row.src_seq} ${row.dst_seq} ${row.relation}`, edgeOf(row, depth))
        const [seq, entity] = direction === 'up' ? [row.dst_seq, { type: row.dst_type, id: row.dst_id }] : [row.src_seq, { type: row.src_type, id: row.src_id }]
        if (!depths.has(seq)) depths.set(seq, { entity, depth })
        if (!visited.has(seq)) { visited.add(seq); frontier.push(seq) }
      }
    }
  }
  const nodes = [...depths.values()].map(({ entity, depth }) => ({ entity_type: entity.type, entity_id: entity.id, depth }))
  return { edges: [...edges.values()].toSorted((a, b) => a.depth - b.depth), nodes: nodes.toSorted((a, b) => a.depth - b.depth), truncated }
}

interface StepRow {
  src_seq: number; dst_seq: number; relation: string; invocation_id: string
  src_type: string; src_id: string; dst_type: string; dst_id: string
}

async function step(db: Db, frontier: readonly number[], direction: 'up' | 'down'): Promise<StepRow[]> {
  const near = direction === 'up' ? sql.ref('e.src_seq') : sql.ref('e.dst_seq')
  const { rows } = await sql<StepRow>`
    select e.src_seq, e.dst_seq, e.relation, e.invocation_id,
      s.entity_type as src_type, s.entity_id as src_id, d.entity_type as dst_type, d.entity_id as dst_id
    from lineage_edge e join lineage_node s on s.seq = e.src_seq join lineage_node d on d.seq = e.dst_seq
    where ${near} = any(${frontier}::bigint[])
    order by e.src_seq desc, e.dst_seq desc, e.relation
    limit ${MAX_EDGES + 1}
  `.execute(db)
  return rows
}

function edgeOf(row: StepRow, depth: number): Edge {
  return { depth, src_type: row.src_type, src_id: row.src_id, dst_type: row.dst_type, dst_id: row.dst_id, relation: row.relation, invocation_id: row.invocation_id }
}
