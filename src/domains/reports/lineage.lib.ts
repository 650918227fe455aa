import type { Context } from '#operation.ts'
import * as projects from '#model/identity/project.ts'
import { nameKey, namesOf } from '#model/platform/lineage-names.ts'
import * as lineage from '#model/platform/lineage.ts'
import type { ReportDocument, Table } from '#services/documents/report.ts'
import { countBy, whole } from './figures.lib.ts'

type Body = Omit<ReportDocument, 'organization' | 'createdAt'>

const MAX_DEPTH = 50
/** Rows of a table; the rest is counted. */
const MAX_ROWS = 2_000

const TYPE_NAMES: Readonly<Record<lineage.Entity['type'], string>> = {
  item: 'Item',
  asset: 'File',
  order: 'Order',
  processing_job: 'Job',
  report: 'Report',
  share_link: 'Share link',
  collection: 'Collection',
  project: 'Project',
}

/** The whole chain of an object for auditors: every source, everything derived from it, and the request that made each step. */
export async function lineageBody({ db, principal }: Context, organizationId: string, root: lineage.Entity): Promise<Body> {
  const { nodes, edges, truncated } = await lineage.graph(db, organizationId, root, {
    direction: 'both',
    maxDepth: MAX_DEPTH,
    readable: (projectIds) => projects.readableAmong(db, principal, projectIds),
  })
  const names = await namesOf(
    db,
    organizationId,
    nodes.map(({ entity }) => entity),
  )
  const nameOf = (entity: lineage.Entity) => names.get(nameKey(entity)) ?? null
  // Long names are cut off in steps: the number finds the object in the second table.
  const numbers = new Map(nodes.map(({ entity }, index) => [nameKey(entity), index + 1]))
  const textOf = (entity: lineage.Entity) => `${numbers.get(nameKey(entity))} ${nameOf(entity) ?? TYPE_NAMES[entity.type]}`
  const requests = new Set(edges.map(({ invocationId }) => invocationId))
  return {
    title: `Lineage of ${nameOf(root) ?? root.id}`,
    subject: `${TYPE_NAMES[root.type]} ${root.id}`,
    period: null,
    facts: [
      { label: 'Objects', value: whole(nodes.length) },
      { label: 'Steps', value: whole(edges.length) },
      { label: 'Requests', value: whole(requests.size) },
      { label: "Complete within the creator's access", value: truncated ? 'No, it is too large' : 'Yes' },
      ...countBy(nodes, ({ entity }) => TYPE_NAMES[entity.type]).map(({ label, value }) => ({ label, value: whole(value) })),
    ],
    map: null,
    charts: [],
    tables: [stepTable(edges, textOf), objectTable(nodes, nameOf)],
  }
}

type NameOf = (entity: lineage.Entity) => string | null

/** Oldest first, as the steps were made. */
function stepTable(edges: readonly lineage.Edge[], textOf: (entity: lineage.Entity) => string): Table {
  return {
    title: 'Steps',
    columns: [
      { key: 'result', label: 'Result', share: 2.5 },
      { key: 'relation', label: 'Relation', share: 1.6 },
      { key: 'source', label: 'Source', share: 2.5 },
      { key: 'at', label: 'Time (UTC)', share: 2.2 },
      { key: 'invocation_id', label: 'Request in the audit log', share: 4.6 },
    ],
    rows: edges
      .toSorted((a, b) => a.at.getTime() - b.at.getTime() || b.depth - a.depth)
      .slice(0, MAX_ROWS)
      .map(({ src, relation, dst, at, invocationId }) => [
        textOf(src),
        relation.replaceAll('_', ' '),
        textOf(dst),
        at.toISOString().slice(0, 16).replace('T', ' '),
        invocationId,
      ]),
    more: Math.max(0, edges.length - MAX_ROWS),
  }
}

function objectTable(nodes: lineage.Graph['nodes'], nameOf: NameOf): Table {
  return {
    title: 'Objects',
    columns: [
      { key: 'number', label: 'No.', isNumber: true, share: 0.8 },
      { key: 'type', label: 'Type', share: 1.6 },
      { key: 'name', label: 'Name', share: 4 },
      { key: 'id', label: 'ID', share: 5 },
      { key: 'depth', label: 'Steps away', isNumber: true, share: 1.6 },
    ],
    rows: nodes
      .slice(0, MAX_ROWS)
      .map(({ entity, depth }, index) => [index + 1, TYPE_NAMES[entity.type], nameOf(entity), entity.id, depth]),
    more: Math.max(0, nodes.length - MAX_ROWS),
  }
}
