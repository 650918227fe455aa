import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM, ItemRecord, Name, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MAX_NAME_LENGTH = 500
const COPY_SUFFIX = ' (copy)'

/** Copies an item within its project or to another project of the organization; the copy's assets refer to the same files. */
export default operation({
  id: 'items.duplicate',
  scope: 'items:write',
  tier: 'compute',
  produces: ['item:duplicated_from>item', 'asset:duplicated_from>asset'],
  events: ['item.created'],
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    new_name: Described(Type.Optional(Nullable(Name)), "Display name of the copy; defaults to the original's name"),
    target_collection_id: Described(Type.Optional(Nullable(ItemId)), 'ID of the collection to add the copy to'),
    target_project_id: Described(Type.Optional(Nullable(ItemId)), "ID of the project to copy to; defaults to the item's project"),
  }),
  output: ItemRecord,
  example: {
    input: { item_id: EXAMPLE_ITEM.id, new_name: 'Before the flood' },
    output: { ...EXAMPLE_ITEM, id: '0199f2c6-3333-7abc-8def-0123456789ab', name: 'Before the flood', duplicated_from_id: EXAMPLE_ITEM.id },
  },
}).handle({
  async check({ db, principal }, input) {
    const source = await items.requireReader(db, principal, input.item_id)
    const target = projects.requireActive(await projects.requireRole(db, principal, input.target_project_id ?? source.project.id, 'editor'))
    if (target.organizationId !== source.project.organizationId)
      throw problem('bad-request', 'An item can only be copied within its organization')
    if (source.item.lifecycleState === 'expired') throw problem('bad-request', 'This item has expired, so it cannot be copied')
    const targetCollectionId =
      target.id === source.project.id && input.target_collection_id === undefined
        ? source.item.collectionId
        : (input.target_collection_id ?? null)
    const collectionId = targetCollectionId === null ? null : (await collections.requireIn(db, target.id, targetCollectionId)).id
    return { source: source.item, target, collectionId }
  },
  async execute({ tx, principal, clock, lineage, events, attributeTo }, input, { source, target, collectionId }) {
    attributeTo(target.organizationId)
    await projects.lock(tx, target.id)
    if (collectionId) await collections.lock(tx, target.id, collectionId)
    const current = await items.lock(tx, source.seq)
    const files = assets.copies(await assets.list(tx, current.seq))
    await storageAccounts.requireFreeBytes(tx, target.organizationId, assets.storedBytes(files.map(({ asset }) => asset)))
    const name = input.new_name ?? current.name.slice(0, MAX_NAME_LENGTH - COPY_SUFFIX.length) + COPY_SUFFIX
    const copy = await itemWrite.duplicate(
      tx,
      current,
      { organizationId: target.organizationId, projectId: target.id, createdBy: principal.userId, now: clock.now(), collectionId, name },
      files.map(({ asset }) => asset),
    )
    await visualizationProfiles.copyAll(tx, current.seq, {
      organizationId: target.organizationId,
      itemSeq: copy.seq,
      createdBy: principal.userId,
      now: clock.now(),
    })
    lineage.record('item', copy.id, 'duplicated_from', { kind: 'item', id: current.id }, target.id)
    for (const { from, asset } of files) lineage.record('asset', asset.id, 'duplicated_from', { kind: 'asset', id: from }, target.id)
    events.emit('item.created', copy.id, items.summary(copy))
    return toRecord(copy)
  },
})
