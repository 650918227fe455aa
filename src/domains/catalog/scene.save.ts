import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as savedScenes from '#model/scenes/saved-scene.ts'
import { operation } from '#operation.ts'
import { referenceTo, requireOpenScene, requireReadable } from '#services/scenes/open-scene.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_ITEM, ItemRecord, toRecord } from '#wire/item.ts'
import { HostName, SceneAssets, SceneId } from './wire.ts'

/**
 * Saves an open scene to a project as an item that refers to the host's files. Saving a scene again returns the same item. It is free,
 * and the item keeps the scene's licence, attribution and origin. `catalog.scene.copy` stores the files instead.
 */
export default operation({
  id: 'catalog.scene.save',
  scope: 'items:write',
  tier: 'compute',
  produces: ['item:created_in>project'],
  events: ['item.created'],
  input: Closed({
    host_name: HostName,
    id: SceneId,
    project_id: Described(Uuid, 'Project ID'),
    collection_id: Described(Type.Optional(Nullable(ItemId)), 'ID of the collection to add the item to'),
    assets: SceneAssets,
  }),
  output: Closed(
    {
      item: ItemRecord,
      created: Type.Boolean({ description: '`false` if the project already had the scene' }),
    },
    { description: 'The item of the scene' },
  ),
  example: {
    input: { host_name: 'earth-search', id: EXAMPLE_ITEM.stac_id, project_id: EXAMPLE_ITEM.project_id },
    output: { item: EXAMPLE_ITEM, created: true },
  },
}).handle({
  async check(context, { host_name, id, project_id, collection_id, assets }) {
    const { db, principal, raster, vendors } = context
    const project = projects.requireActive(await projects.requireRole(db, principal, project_id, 'editor'))
    const collectionId = collection_id == null ? null : (await collections.requireIn(db, project.id, collection_id)).id
    const open = await requireOpenScene(context, { hostName: host_name, id, assets })
    const { scene } = open
    await requireReadable(context, open)
    const key = { hostName: host_name, collection: scene.collection, sceneId: scene.id, variant: savedScenes.REFERENCE }
    return { project, key, item: referenceTo(open, { collectionId, vendors, raster }) }
  },
  async execute({ tx, principal, clock, lineage, events, attributeTo }, _input, { project, key, item }) {
    const { id: projectId, organizationId } = project
    const now = clock.now()
    attributeTo(organizationId)
    await projects.lock(tx, projectId)
    const saved = await savedScenes.find(tx, projectId, key)
    const savedId = saved && savedScenes.idOf(saved)
    if (savedId) {
      lineage.nothingProduced()
      return { item: toRecord(await items.get(tx, organizationId, savedId)), created: false }
    }
    if (item.collectionId) await collections.lock(tx, projectId, item.collectionId)
    const [created] = await itemWrite.insert(tx, { organizationId, projectId, createdBy: principal.userId, now }, [item])
    await savedScenes.put(tx, { organizationId, projectId, savedSearchId: null, now }, key, { itemId: item.id })
    lineage.record('item', item.id, 'created_in', { kind: 'project', id: projectId })
    events.emit('item.created', item.id, items.summary(created!))
    return { item: toRecord(created!), created: true }
  },
})
