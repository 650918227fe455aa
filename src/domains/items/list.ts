import Type from 'typebox'
import { mapInParts } from '#core/in-parts.ts'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, Defaulted, Described, Limit, Nullable, Uuid } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM, ItemKind, ItemRecord, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** Higher than for other lists, because a project can have many items. */
const MAX_OFFSET = 2_147_483_647

/**
 * The items of a project, newest first: all of them, those of one collection, or with `uncollected` those without a collection,
 * filtered by `q` and `type`.
 */
export default operation({
  id: 'items.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    collection_id: Described(Type.Optional(Nullable(ItemId)), 'Only items of this collection'),
    uncollected: Defaulted(Type.Boolean(), false, { description: 'Whether to list only items without a collection' }),
    q: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: `Items with this text in their name or ID, case-insensitive; searches the newest ${items.MAX_EXAMINED} items`,
        }),
      ),
    ),
    type: Described(Type.Optional(Nullable(ItemKind)), 'Only items of this type'),
    limit: Limit(100, 1000),
    offset: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_OFFSET }), 0, {
      description: 'Number of items to skip; ignored with `next`, which is faster for long lists',
    }),
    next: Type.Optional(Nullable(Described(ItemId, '`next` of the previous page'))),
  }),
  output: Closed({
    items: Type.Array(ItemRecord, { description: 'Items of this page' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
    next: Described(Nullable(ItemId), 'Cursor of the next page; null on the last page'),
  }),
  example: { input: { project_id: EXAMPLE_ITEM.project_id }, output: { items: [EXAMPLE_ITEM], total: 1, next: null } },
}).handle({
  async check({ db, principal }, { project_id, collection_id, uncollected, next }) {
    if (uncollected && collection_id != null) throw problem('bad-request', 'Send uncollected or collection_id, not both')
    const project = await projects.requireReader(db, principal, project_id)
    if (next != null && !(await items.wasIn(db, project.id, next)))
      throw invalidField('next', 'must be the `next` value of an earlier page of this project')
    return {
      organizationId: project.organizationId,
      projectId: project.id,
      collectionId: collection_id == null ? undefined : (await collections.requireIn(db, project.id, collection_id)).id,
    }
  },
  async execute({ db }, { uncollected, q, type, limit, offset, next }, { organizationId, projectId, collectionId }) {
    const within = uncollected ? { collectionId: null } : collectionId ? { collectionId } : {}
    const filter = { text: q ?? null, type: type ?? null }
    const window = { limit, offset, after: next ?? null }
    const { items: page, total, hasMore } = await items.list(db, { organizationId, projectId, ...within, ...filter, ...window })
    return { items: await mapInParts(page, toRecord), total, next: hasMore ? page.at(-1)!.id : null }
  },
})
