import { sql } from 'kysely'
import type { Artifact } from '#core/vocabulary.ts'
import { listed, type Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

export interface Entity {
  type: Artifact
  id: string
}

export interface Recorded {
  entity: Entity
  relation: string
  /** Null for an artifact without an origin, such as a project. */
  origin: Entity | null
  /** Its project, if that differs from the origin's. */
  projectId?: string
}

/**
 * Writes the nodes and edges of one invocation, in as few statements as their order allows: an origin created by the same invocation
 * must be inserted before what derives from it. An origin that is not an artifact of this organization is a bug in the caller, except
 * for assets, which can be registered by reference and first occur as an origin.
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
    const resolved = run.map((record) => ({ ...record, from: record.origin ? known.get(nameOf(record.origin)) : undefined }))
    const missing = resolved.find(({ origin, from }) => origin && !from)?.origin
    if (missing) throw new Error(`lineage: the origin ${missing.type} ${missing.id} was never recorded`)
    const edges = resolved.flatMap(({ entity, relation, from }) => (from ? [{ entity, relation, to: from.seq }] : []))
    const made = await insertNodes(
      tx,
      call,
      resolved.map(({ entity, origin, from, projectId }) => ({
        entity,
        projectId:
          projectId ?? (entity.type === 'project' ? entity.id : origin?.type === 'project' ? origin.id : (from?.projectId ?? null)),
      })),
      edges,
    )
    // Artifacts that were recorded before have a new origin.
    if (made < distinct(run.map(({ entity }) => entity)).length) await insertEdges(tx, call, edges)
  }
}

const nameOf = ({ type, id }: Entity): string => `${type} ${id}`

const distinct = (entities: readonly Entity[]): Entity[] => [...new Map(entities.map((entity) => [nameOf(entity), entity])).values()]

/** Splits records into runs in which no record derives from another. */
function runsOf(records: readonly Recorded[]): Recorded[][] {
  const runs: Recorded[][] = []
  let entities = new Set<string>()
  for (const record of records) {
    if (runs.length === 0 || (record.origin && entities.has(nameOf(record.origin)))) {
      runs.push([])
      entities = new Set()
    }
    runs.at(-1)!.push(record)
    entities.add(nameOf(record.entity))
  }
  return runs
}

interface Invocation {
  organizationId: string
  invocationId: string
  now: Date
}

interface NewEdge {
  entity: Entity
  relation: string
  to: number
}

/** Also inserts the edges of the nodes that are new, in the same statement. Returns how many are. */
async function insertNodes(
  tx: Tx,
  { organizationId, invocationId, now }: Invocation,
  artifacts: readonly { entity: Entity; projectId: string | null }[],
  edges: readonly NewEdge[] = [],
): Promise<number> {
  if (artifacts.length === 0) return 0
  const { rows } = await sql<{ made: number }>`
    with made as (
      insert into lineage_node (org_id, project_id, entity_type, entity_id, invocation_id, created_at)
      select ${organizationId}, project_id, entity_type, entity_id, ${invocationId}, ${now}
      from unnest(${artifacts.map(({ projectId }) => projectId)}::uuid[], ${artifacts.map(({ entity }) => entity.type)}::text[],
        ${artifacts.map(({ entity }) => entity.id)}::text[])
        with ordinality as n (project_id, entity_type, entity_id, nth)
      order by nth
      on conflict (org_id, entity_type, entity_id) do nothing
      returning seq, entity_type, entity_id
    ), joined as (
      insert into lineage_edge (src_seq, dst_seq, relation, invocation_id, created_at)
      select n.seq, e.dst_seq, e.relation, ${invocationId}, ${now} from ${unnested(edges)} join made n using (entity_type, entity_id)
      on conflict do nothing
    )
    select count(*)::integer as made from made
  `.execute(tx)
  return rows[0]!.made
}

const unnested = (edges: readonly NewEdge[]) => sql`
  unnest(${edges.map(({ entity }) => entity.type)}::text[], ${edges.map(({ entity }) => entity.id)}::text[],
    ${edges.map(({ to }) => to)}::bigint[], ${edges.map(({ relation }) => relation)}::text[])
    as e (entity_type, entity_id, dst_seq, relation)`

async function insertEdges(tx: Tx, { organizationId, invocationId, now }: Invocation, edges: readonly NewEdge[]): Promise<void> {
  if (edges.length === 0) return
  await sql`
    insert into lineage_edge (src_seq, dst_seq, relation, invocation_id, created_at)
    select n.seq, e.dst_seq, e.relation, ${invocationId}, ${now} from ${unnested(edges)}
    join lineage_node n on n.org_id = ${organizationId} and n.entity_type = e.entity_type and n.entity_id = e.entity_id
    on conflict do nothing
  `.execute(tx)
}

const NODE = ['seq', 'project_id as projectId'] as const
type Node = Row<'lineage_node', typeof NODE>

async function nodes(db: Db, organizationId: string, entities: readonly Entity[]): Promise<Map<string, Node>> {
  if (entities.length === 0) return new Map()
  const { rows } = await sql<Node & Entity>`
    select ${listed(NODE, 'n')}, n.entity_type as type, n.entity_id as id
    from unnest(${entities.map(({ type }) => type)}::text[], ${entities.map(({ id }) => id)}::text[]) as e (entity_type, entity_id)
    join lineage_node n on n.org_id = ${organizationId} and n.entity_type = e.entity_type and n.entity_id = e.entity_id
  `.execute(db)
  return new Map(rows.map((row) => [nameOf(row), row]))
}

async function node(db: Db, organizationId: string, entity: Entity): Promise<Node | null> {
  const row = await db
    .selectFrom('lineage_node')
    .select(NODE)
    .where('org_id', '=', organizationId)
    .where('entity_type', '=', entity.type)
    .where('entity_id', '=', entity.id)
    .executeTakeFirst()
  return row ?? null
}

/** The project of an artifact, whose readers can see its lineage; undefined if the artifact is unknown. */
export async function projectOf(db: Db, organizationId: string, entity: Entity): Promise<string | null | undefined> {
  return (await node(db, organizationId, entity))?.projectId
}

type Direction = 'up' | 'down' | 'both'

export interface Edge {
  depth: number
  /** The result. */
  src: Entity
  /** What it was derived from. */
  dst: Entity
  relation: string
  invocationId: string
  at: Date
}

export interface Graph {
  edges: Edge[]
  nodes: { entity: Entity; depth: number }[]
  truncated: boolean
}

const MAX_EDGES = 5_000

interface Walk {
  direction: Direction
  maxDepth: number
  /** Selects the projects the caller can read. Artifacts of others are left out, and so is what is only reachable through them. */
  readable: (projectIds: readonly string[]) => Promise<ReadonlySet<string>>
}

/** Walks level by level from the root: `up` to the origins, `down` to what derives from it. */
export async function graph(db: Db, organizationId: string, root: Entity, walk: Walk): Promise<Graph> {
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
      const rows = await visible(await step(db, frontier, direction), direction, walk)
      frontier = []
      for (const row of rows) {
        if (edges.size >= MAX_EDGES) {
          truncated = true
          break
        }
        const src = { type: row.srcType, id: row.srcId }
        const dst = { type: row.dstType, id: row.dstId }
        edges.set(`${row.srcSeq} ${row.dstSeq} ${row.relation}`, {
          depth,
          src,
          dst,
          relation: row.relation,
          invocationId: row.invocationId,
          at: row.at,
        })
        const [seq, entity] = direction === 'up' ? [row.dstSeq, dst] : [row.srcSeq, src]
        if (!depths.has(seq)) depths.set(seq, { entity, depth })
        if (!visited.has(seq)) {
          visited.add(seq)
          frontier.push(seq)
        }
      }
    }
  }
  const byDepth = (a: { depth: number }, b: { depth: number }) => a.depth - b.depth
  return { edges: [...edges.values()].toSorted(byDepth), nodes: [...depths.values()].toSorted(byDepth), truncated }
}

/** Removes steps into projects the caller cannot read. Artifacts outside projects are visible to the organization. */
async function visible(rows: readonly StepRow[], direction: 'up' | 'down', { readable }: Walk): Promise<StepRow[]> {
  const projectOfFar = (row: StepRow) => (direction === 'up' ? row.dstProjectId : row.srcProjectId)
  const readableIds = await readable([...new Set(rows.flatMap((row) => projectOfFar(row) ?? []))])
  return rows.filter((row) => {
    const projectId = projectOfFar(row)
    return projectId === null || readableIds.has(projectId)
  })
}

interface StepRow {
  srcProjectId: string | null
  dstProjectId: string | null
  srcSeq: number
  dstSeq: number
  relation: string
  invocationId: string
  at: Date
  srcType: Artifact
  srcId: string
  dstType: Artifact
  dstId: string
}

/** An asset that first occurred as an origin has no project of its own: its item's project applies. */
function projectOfNode(alias: 's' | 'd') {
  const [project, type, id] = [sql.ref(`${alias}.project_id`), sql.ref(`${alias}.entity_type`), sql.ref(`${alias}.entity_id`)]
  return sql`coalesce(${project}, case when ${type} = 'asset' then
    (select i.project_id from asset a join item i on i.seq = a.item_seq where a.id = ${id}::uuid) end)`
}

async function step(db: Db, frontier: readonly number[], direction: 'up' | 'down'): Promise<StepRow[]> {
  const near = direction === 'up' ? sql.ref('e.src_seq') : sql.ref('e.dst_seq')
  const { rows } = await sql<StepRow>`
    select e.src_seq as "srcSeq", e.dst_seq as "dstSeq", e.relation, e.invocation_id as "invocationId", e.created_at as at,
      s.entity_type as "srcType", s.entity_id as "srcId", d.entity_type as "dstType", d.entity_id as "dstId",
      ${projectOfNode('s')} as "srcProjectId", ${projectOfNode('d')} as "dstProjectId"
    from lineage_edge e join lineage_node s on s.seq = e.src_seq join lineage_node d on d.seq = e.dst_seq
    where ${near} = any(${frontier}::bigint[])
    order by e.src_seq desc, e.dst_seq desc, e.relation
    limit ${MAX_EDGES + 1}
  `.execute(db)
  return rows
}
