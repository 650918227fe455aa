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
  /** Where it lies, when that is not where its origin lies. */
  projectId?: string
}

/**
 * Writes nodes and edges of one invocation, in as few statements as their order allows: an origin that the same invocation
 * made must be there before what was made of it. An origin that is no artifact of this organization is a bug of the
 * caller; only assets, which may be registered by reference, can first be met as one.
 */
export async function write(tx: Tx, organizationId: string, invocationId: string, records: readonly Recorded[], now: Date): Promise<void> {
  const call = { organizationId, invocationId, now }
  for (const run of runsOf(records)) {
    const origins = distinct(run.flatMap(({ origin }) => (origin ? [origin] : [])))
    await insertNodes(
      tx,
      call,
      origins.filter(({ type }) => type === 'asset').map((entity) => ({ entity, projectId: null })),
    )
    const known = await nodes(tx, organizationId, origins)
    const made = run.map((record) => ({ ...record, from: record.origin ? known.get(nameOf(record.origin)) : undefined }))
    const missing = made.find(({ origin, from }) => origin && !from)?.origin
    if (missing) throw new Error(`lineage: the origin ${missing.type} ${missing.id} was never recorded`)
    await insertNodes(
      tx,
      call,
      made.map(({ entity, origin, from, projectId }) => ({
        entity,
        projectId:
          projectId ?? (entity.type === 'project' ? entity.id : origin?.type === 'project' ? origin.id : (from?.project_id ?? null)),
      })),
    )
    await insertEdges(
      tx,
      call,
      made.flatMap(({ entity, relation, from }) => (from ? [{ entity, relation, to: from.seq }] : [])),
    )
  }
}

const nameOf = ({ type, id }: Entity): string => `${type} ${id}`

const distinct = (entities: readonly Entity[]): Entity[] => [...new Map(entities.map((entity) => [nameOf(entity), entity])).values()]

/** Stretches of records none of which comes from another of the same stretch. */
function runsOf(records: readonly Recorded[]): Recorded[][] {
  const runs: Recorded[][] = []
  let made = new Set<string>()
  for (const record of records) {
    if (runs.length === 0 || (record.origin && made.has(nameOf(record.origin)))) {
      runs.push([])
      made = new Set()
    }
    runs.at(-1)!.push(record)
    made.add(nameOf(record.entity))
  }
  return runs
}

interface Invocation {
  organizationId: string
  invocationId: string
  now: Date
}

async function insertNodes(
  tx: Tx,
  { organizationId, invocationId, now }: Invocation,
  made: readonly { entity: Entity; projectId: string | null }[],
): Promise<void> {
  if (made.length === 0) return
  await sql`
    insert into lineage_node (org_id, project_id, entity_type, entity_id, invocation_id, created_at)
    select ${organizationId}, project_id, entity_type, entity_id, ${invocationId}, ${now}
    from unnest(${made.map(({ projectId }) => projectId)}::uuid[], ${made.map(({ entity }) => entity.type)}::text[], ${made.map(({ entity }) => entity.id)}::text[])
      with ordinality as n (project_id, entity_type, entity_id, nth)
    order by nth
    on conflict (org_id, entity_type, entity_id) do nothing
  `.execute(tx)
}

async function insertEdges(
  tx: Tx,
  { organizationId, invocationId, now }: Invocation,
  edges: readonly { entity: Entity; relation: string; to: number }[],
): Promise<void> {
  if (edges.length === 0) return
  await sql`
    insert into lineage_edge (src_seq, dst_seq, relation, invocation_id, created_at)
    select n.seq, e.dst_seq, e.relation, ${invocationId}, ${now}
    from unnest(${edges.map(({ entity }) => entity.type)}::text[], ${edges.map(({ entity }) => entity.id)}::text[], ${edges.map(({ to }) => to)}::bigint[], ${edges.map(({ relation }) => relation)}::text[])
      as e (entity_type, entity_id, dst_seq, relation)
    join lineage_node n on n.org_id = ${organizationId} and n.entity_type = e.entity_type and n.entity_id = e.entity_id
    on conflict do nothing
  `.execute(tx)
}

interface Node {
  seq: number
  project_id: string | null
}

async function nodes(db: Db, organizationId: string, entities: readonly Entity[]): Promise<Map<string, Node>> {
  if (entities.length === 0) return new Map()
  const { rows } = await sql<Node & { entity_type: string; entity_id: string }>`
    select n.seq, n.project_id, n.entity_type, n.entity_id
    from unnest(${entities.map(({ type }) => type)}::text[], ${entities.map(({ id }) => id)}::text[]) as e (entity_type, entity_id)
    join lineage_node n on n.org_id = ${organizationId} and n.entity_type = e.entity_type and n.entity_id = e.entity_id
  `.execute(db)
  return new Map(rows.map((row) => [`${row.entity_type} ${row.entity_id}`, row]))
}

async function node(db: Db, organizationId: string, entity: Entity): Promise<Node | null> {
  const row = await db
    .selectFrom('lineage_node')
    .select(['seq', 'project_id'])
    .where('org_id', '=', organizationId)
    .where('entity_type', '=', entity.type)
    .where('entity_id', '=', entity.id)
    .executeTakeFirst()
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
export async function graph(
  db: Db,
  organizationId: string,
  root: Entity,
  walk: { direction: Direction; maxDepth: number },
): Promise<Graph> {
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
        if (edges.size >= MAX_EDGES) {
          truncated = true
          break
        }
        edges.set(`${row.src_seq} ${row.dst_seq} ${row.relation}`, edgeOf(row, depth))
        const [seq, entity] =
          direction === 'up' ? [row.dst_seq, { type: row.dst_type, id: row.dst_id }] : [row.src_seq, { type: row.src_type, id: row.src_id }]
        if (!depths.has(seq)) depths.set(seq, { entity, depth })
        if (!visited.has(seq)) {
          visited.add(seq)
          frontier.push(seq)
        }
      }
    }
  }
  const nodes = [...depths.values()].map(({ entity, depth }) => ({ entity_type: entity.type, entity_id: entity.id, depth }))
  return { edges: [...edges.values()].toSorted((a, b) => a.depth - b.depth), nodes: nodes.toSorted((a, b) => a.depth - b.depth), truncated }
}

interface StepRow {
  src_seq: number
  dst_seq: number
  relation: string
  invocation_id: string
  src_type: string
  src_id: string
  dst_type: string
  dst_id: string
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
  return {
    depth,
    src_type: row.src_type,
    src_id: row.src_id,
    dst_type: row.dst_type,
    dst_id: row.dst_id,
    relation: row.relation,
    invocation_id: row.invocation_id,
  }
}
