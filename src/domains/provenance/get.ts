import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Described, Uuid } from '#core/shapes.ts'
import * as lineage from '#model/platform/lineage.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Root = Closed({
  entity_type: Type.String({ description: 'Object type, such as `item` or `project`' }),
  entity_id: Type.String({ description: 'Object ID' }),
})
const Edge = Closed(
  {
    depth: Type.Integer({ description: 'Number of steps from the root' }),
    src_type: Type.String({ description: 'Type of the resulting object' }),
    src_id: Type.String({ description: 'ID of the resulting object' }),
    dst_type: Type.String({ description: 'Type of the source object' }),
    dst_id: Type.String({ description: 'ID of the source object' }),
    relation: Type.String({ description: 'How the objects are related, such as `uploaded` or `duplicated_from`' }),
    invocation_id: Described(Uuid, 'Invocation ID, as in the `X-Svc-Invocation-ID` response header'),
  },
  { $id: 'LineageEdge', description: 'A relation between two objects' },
)
const Node = Closed(
  {
    entity_type: Type.String({ description: 'Object type, such as `item` or `project`' }),
    entity_id: Type.String({ description: 'Object ID' }),
    depth: Type.Integer({ description: 'Number of steps from the root' }),
  },
  { $id: 'LineageNode', description: 'An object in the lineage' },
)
const Direction = Choice(['up', 'down', 'both'])

const EXAMPLE_ITEM = { entity_type: 'item', entity_id: EXAMPLE_IDS.item }
const EXAMPLE_PROJECT = { entity_type: 'project', entity_id: EXAMPLE_IDS.project }

const toNode = ({ type, id }: lineage.Entity) => ({ entity_type: type, entity_id: id })
const toEdge = ({ depth, src, dst, relation, invocationId }: lineage.Edge) => ({
  depth,
  src_type: src.type,
  src_id: src.id,
  dst_type: dst.type,
  dst_id: dst.id,
  relation,
  invocation_id: invocationId,
})

/** Returns the lineage of an object: `up` to its sources, `down` to the objects derived from it. */
export default operation({
  id: 'provenance.get',
  scope: 'provenance:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    entity_type: Choice(['item', 'order', 'processing_job', 'collection', 'project'], { description: 'Type of the object to trace' }),
    entity_id: Type.String({ minLength: 1, maxLength: 256, description: 'ID of the object to trace' }),
    direction: Defaulted(Direction, 'up', { description: 'Whether to follow sources, derived objects or both' }),
    max_depth: Defaulted(Type.Integer({ minimum: 1, maximum: 50 }), 20, { description: 'Maximum number of steps to follow, 1 to 50' }),
  }),
  output: Closed(
    {
      root: Described(Root, 'The traced object'),
      direction: Described(Direction, 'Direction that was followed'),
      edges: Type.Array(Edge, { description: 'Relations between the objects' }),
      nodes: Type.Array(Node, { description: 'Objects in the lineage' }),
      truncated: Type.Boolean({ description: 'Whether the lineage continues beyond the limit' }),
    },
    { description: 'Lineage of the object' },
  ),
  example: {
    input: { entity_type: 'item', entity_id: EXAMPLE_ITEM.entity_id },
    output: {
      root: EXAMPLE_ITEM,
      direction: 'up',
      edges: [
        {
          depth: 1,
          src_type: 'item',
          src_id: EXAMPLE_ITEM.entity_id,
          dst_type: 'project',
          dst_id: EXAMPLE_PROJECT.entity_id,
          relation: 'uploaded',
          invocation_id: '0199f2c6-1110-7abc-8def-0123456789ab',
        },
      ],
      nodes: [
        { ...EXAMPLE_ITEM, depth: 0 },
        { ...EXAMPLE_PROJECT, depth: 1 },
      ],
      truncated: false,
    },
  },
}).handle({
  async check({ db, principal }, { entity_type, entity_id }) {
    const organizationId = requireOrganization(principal)
    const projectId = await lineage.projectOf(db, organizationId, { type: entity_type, id: entity_id })
    if (projectId === undefined) throw notFound('artifact')
    // Deleted objects stay in the graph, so a deleted project hides nothing; a private one still does.
    if (projectId) await projects.requireLineageReader(db, principal, projectId)
    return organizationId
  },
  async execute({ db, principal }, input, organizationId) {
    const root = { type: input.entity_type, id: input.entity_id }
    const { edges, nodes, truncated } = await lineage.graph(db, organizationId, root, {
      direction: input.direction,
      maxDepth: input.max_depth,
      readable: (projectIds) => projects.readableAmong(db, principal, projectIds),
    })
    return {
      root: toNode(root),
      direction: input.direction,
      edges: edges.map(toEdge),
      nodes: nodes.map(({ entity, depth }) => ({ ...toNode(entity), depth })),
      truncated,
    }
  },
})
