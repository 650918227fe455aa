import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as asset from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as item from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { clearUploadTask, convertUploadTask } from '#model/imagery/tasks.ts'
import { StorageError } from '#ports/storage.ts'
import { operation, type Context, type WriteContext } from '#operation.ts'
import { firstLook } from '#raster/ingest/facts.ts'
import { discard, refusal, takeIn, toAsset, toItem, type Refused, type Taken } from '#services/ingest/intake.ts'
import { positionsOf, Positions } from './position.lib.ts'
import { EXAMPLE_UPLOAD, UploadId } from './wire.ts'

interface Checked extends uploads.UploadWithProject {
  target?: item.Item
  /** By the id of the file. */
  positions: ReadonlyMap<string, uploadFiles.UploadPosition>
}

/**
 * Ends a session: its files become items, or assets of the target item. A COG can be shown at once; another GeoTIFF is
 * converted afterwards, and `uploads.progress` tells how far that is.
 */
export default operation({
  id: 'uploads.complete',
  scope: 'uploads:write',
  tier: 'compute',
  produces: ['item:uploaded>project', 'asset:uploaded>item'],
  events: ['upload.completed', 'item.created', 'item.updated'],
  input: Closed({ upload_id: Described(UploadId, 'Upload session ID'), positions: Type.Optional(Nullable(Positions)) }),
  output: Closed(
    {
      id: Described(Uuid, 'Upload session ID'),
      item_ids: Type.Array(Type.String(), { description: 'IDs of the created items' }),
    },
    { description: 'The upload session and the created items' },
  ),
  example: { input: { upload_id: EXAMPLE_UPLOAD.id }, output: { id: EXAMPLE_UPLOAD.id, item_ids: EXAMPLE_UPLOAD.item_ids } },
}).handle({
  async check({ db, principal }, input): Promise<Checked> {
    const found = await uploads.requireEditor(db, principal, input.upload_id)
    if (found.upload.state === 'completed') return { ...found, positions: new Map() }
    uploads.requireOpen(found.upload)
    projects.requireActive(found.project)
    if (found.upload.targetCollectionId) await collections.requireIn(db, found.project.id, found.upload.targetCollectionId)
    const target = found.upload.targetItemId === null ? null : (await item.requireEditor(db, principal, found.upload.targetItemId)).item
    const positions = positionsOf(input.positions ?? [], await uploadFiles.list(db, found.upload.id))
    return { ...found, positions, ...(target ? { target } : {}) }
  },
  async prepare(context, _input, { upload: session, positions }): Promise<Taken[]> {
    if (session.state === 'completed') return []
    const { taken, refused } = await takeIn(context, session, await arrived(context, session, positions), positions)
    if (refused.length === 0) return taken
    await refuse(context, session, refused, taken.length > 0)
    throw refusal(refused, taken.length > 0)
  },
  async execute(context, _input, { upload: session, target }, taken) {
    context.attributeTo(session.organizationId)
    let isKept = false
    try {
      const current = await uploads.lock(context.tx, session.id)
      if (current.state === 'completed') {
        context.lineage.nothingProduced()
        return { id: current.id, item_ids: current.itemIds }
      }
      const itemIds = await complete(context, uploads.requireOpen(current), target ?? null, taken)
      isKept = true
      return { id: current.id, item_ids: itemIds }
    } finally {
      if (!isKept)
        await discard(
          context,
          taken.map(({ at }) => at),
        )
    }
  },
})

async function complete(
  context: WriteContext,
  session: uploads.Upload,
  target: item.Item | null,
  taken: readonly Taken[],
): Promise<string[]> {
  const { tx, clock, events, tasks } = context
  const now = clock.now()
  const stored = target ? await addToItem(context, session, target, taken) : await makeItems(context, session, taken)
  const itemIds = [...new Set(stored.map(({ itemId }) => itemId))]
  for (const file of stored) {
    await uploadFiles.store(tx, file, now)
    if (file.sourceKey !== null) await tasks.enqueue(convertUploadTask, { file_id: file.id })
  }
  const totalBytes = taken.reduce((sum, { size }) => sum + size, 0)
  await uploads.complete(tx, session.id, { itemIds, bytes: totalBytes }, now)
  await tasks.enqueue(clearUploadTask, { upload_id: session.id })
  events.emit('upload.completed', session.id, {
    id: session.id,
    project_id: session.projectId,
    item_ids: itemIds,
    file_count: taken.length,
    total_bytes: totalBytes,
    completed_at: now.toISOString(),
  })
  return itemIds
}

/** The files of a session, all of which must have come. One that was refused for its position is there again once it has one. */
async function arrived(
  { db, storage, signal }: Context,
  session: uploads.Upload,
  positions: Checked['positions'],
): Promise<uploadFiles.UploadFile[]> {
  const all = await uploadFiles.list(db, session.id)
  const waiting = all.filter(uploadFiles.waitsForPosition)
  const files = all.filter((file) => file.state === 'awaiting' || (waiting.includes(file) && positions.has(file.id)))
  if (files.length === 0 && waiting.length > 0)
    throw refusal(
      waiting.map((file) => ({ file, reason: file.error!, lacksPosition: true })),
      false,
    )
  if (files.length === 0)
    throw problem(
      'bad-request',
      'No file has been uploaded: ask uploads.signed_url for an address, PUT the file there, then complete the session',
    )
  if (all.length < session.fileCount)
    throw problem(
      'bad-request',
      `The session was opened for ${session.fileCount} files, but addresses were asked for ${all.length} of them ` +
        `(${all.map(({ name }) => name).join(', ')}); upload the others first`,
    )
  const missing: string[] = []
  for (const file of files) {
    if (!(await joinParts({ db, storage, signal }, session, file))) missing.push(file.name)
    else if ((await storage.stat({ bucket: session.bucket, key: file.objectKey }, signal)) === null) missing.push(file.name)
  }
  if (missing.length > 0)
    throw problem(
      'bad-request',
      `${missing.join(', ')} ${missing.length > 1 ? 'have' : 'has'} not been uploaded yet: ` +
        `PUT ${missing.length > 1 ? 'each' : 'it'} to the address that uploads.signed_url gives`,
    )
  return files
}

/** Makes one object of a file that came in parts. False: some of it is missing. */
async function joinParts(
  { db, storage, signal }: Pick<Context, 'db' | 'storage' | 'signal'>,
  { bucket }: uploads.Upload,
  file: uploadFiles.UploadFile,
): Promise<boolean> {
  const parts = uploadFiles.partsOf(file, bucket)
  if (!parts) return true
  try {
    await storage.parts!.finish(parts, signal)
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not-found') return false
    throw error
  }
  await uploadFiles.endParts(db, file.id, parts.id)
  return true
}

/**
 * Refused files leave the session, and a session without any other file ends: what it held of the quota is given back. A file that
 * only lacks a position is kept, and keeps its session open.
 */
async function refuse(
  { db, clock, storage }: Context,
  session: uploads.Upload,
  refused: readonly Refused[],
  hasOthers: boolean,
): Promise<void> {
  const now = clock.now()
  const gone = refused.filter(({ lacksPosition }) => !lacksPosition)
  await db.transaction().execute(async (tx) => {
    if ((await uploads.lock(tx, session.id)).closedAt) return
    for (const { file, reason, lacksPosition } of refused) await uploadFiles.refuse(tx, file.id, { error: reason, lacksPosition }, now)
    if (!hasOthers && gone.length === refused.length)
      await uploads.fail(tx, session.id, { step: 'check', message: `${refused[0]!.file.name}: ${refused[0]!.reason}` }, now)
  })
  await discard(
    { storage },
    gone.map(({ file }) => ({ bucket: session.bucket, key: file.objectKey })),
  )
}

async function makeItems(
  { tx, principal, clock, lineage, events }: WriteContext,
  session: uploads.Upload,
  taken: readonly Taken[],
): Promise<uploadFiles.Stored[]> {
  const { organizationId, projectId, isCategorical } = session
  const now = clock.now()
  await projects.lock(tx, projectId)
  if (session.targetCollectionId) await collections.lock(tx, projectId, session.targetCollectionId)
  await settle(tx, session, taken)
  const assets = taken.map((file) => toAsset(file, session.assetKey ?? 'data', isCategorical))
  const items = await itemWrite.insert(
    tx,
    { organizationId, projectId, createdBy: principal.userId, now },
    taken.map((file, index) => toItem(file, session, assets[index]!)),
  )
  for (const [index, made] of items.entries()) {
    const { key, bandNames, id } = assets[index]!
    await visualizationProfiles.insertDefault(
      tx,
      { organizationId, itemSeq: made.seq, createdBy: principal.userId, now },
      firstLook(taken[index]!.info, bandNames!, isCategorical),
      key === 'data' ? null : key,
    )
    lineage.record('item', made.id, 'uploaded', { kind: 'project', id: projectId })
    lineage.record('asset', id, 'uploaded', { kind: 'item', id: made.id })
    events.emit('item.created', made.id, item.summary(made))
  }
  return taken.map((file, index) => storedAs(file, items[index]!.id, assets[index]!.id))
}

async function addToItem(
  { tx, clock, lineage, events }: WriteContext,
  session: uploads.Upload,
  target: item.Item,
  taken: readonly Taken[],
): Promise<uploadFiles.Stored[]> {
  const { organizationId, projectId } = session
  const now = clock.now()
  await projects.lock(tx, projectId)
  const held = await item.lock(tx, target.seq)
  await settle(tx, session, taken)
  const keys = new Set((await asset.list(tx, held.seq)).map(({ key }) => key))
  const assets = taken.map((file) => {
    const key = asset.freeKey(session.assetKey ?? 'data', keys)
    keys.add(key)
    return toAsset(file, key, session.isCategorical)
  })
  await asset.add(tx, { organizationId, projectId, itemSeq: held.seq, now }, assets)
  for (const { id } of assets) lineage.record('asset', id, 'uploaded', { kind: 'item', id: held.id })
  events.emit('item.updated', held.id, { ...item.summary(held), changed_fields: ['assets'] })
  return taken.map((file, index) => storedAs(file, held.id, assets[index]!.id))
}

const settle = (tx: WriteContext['tx'], session: uploads.Upload, taken: readonly Taken[]): Promise<void> =>
  storageAccounts.settle(tx, session.organizationId, {
    reserved: session.reservedBytes,
    stored: taken.reduce((sum, { size }) => sum + size, 0),
  })

const storedAs = ({ file, size, at, inspection, position }: Taken, itemId: string, assetId: string): uploadFiles.Stored => ({
  id: file.id,
  sizeBytes: size,
  itemId,
  assetId,
  sourceKey: inspection ? null : at.key,
  position,
})
