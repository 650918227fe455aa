import Type from 'typebox'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import type * as itemPlaces from '#model/imagery/item-place.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { clearUploadTask, convertUploadTask } from '#model/imagery/tasks.ts'
import { StorageError } from '#ports/storage.ts'
import { operation, type Context, type WriteContext } from '#operation.ts'
import { initialProfile } from '#raster/ingest/facts.ts'
import { groundPixelM } from '#raster/stack/grid.ts'
import {
  discard,
  ingestFiles,
  rejection,
  toAsset,
  toItem,
  type IngestedFile,
  type RejectedFile,
  type UploadedFile,
} from '#services/ingest/intake.ts'
import { commonNamesOf, keysOf, placeOfAll, requireOneScene } from './one-item.lib.ts'
import { positionsOf, Positions } from './position.lib.ts'
import { EXAMPLE_UPLOAD, UploadId } from './wire.ts'

interface Checked extends uploads.UploadWithProject {
  target?: items.Item
  /** By file ID. */
  positions: ReadonlyMap<string, uploadFiles.UploadPosition>
}

interface Prepared {
  ingested: IngestedFile[]
  /** Of all files, if they become one item. */
  place: itemPlaces.Place | null
}

/**
 * Completes a session: its files become items, or assets of the target item. A COG can be shown at once; any other GeoTIFF
 * is converted in the background, and `uploads.progress` returns its progress.
 */
export default operation({
  id: 'uploads.complete',
  scope: 'uploads:write',
  tier: 'compute',
  produces: ['item:uploaded>project', 'asset:uploaded>item'],
  events: ['upload.completed', 'item.created', 'item.updated'],
  input: Closed({
    upload_id: Described(UploadId, 'Upload session ID'),
    positions: Type.Optional(Nullable(Positions)),
    as_one_item: Type.Optional(
      Nullable(
        Type.Boolean({
          description:
            'Makes one item of files with one band each; its asset keys and, for Sentinel-2 and Landsat, its band names follow from ' +
            'the file names. By default, each file becomes an item',
        }),
      ),
    ),
  }),
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
    const { upload, project } = await uploads.requireEditor(db, principal, input.upload_id)
    if (upload.state === 'completed') return { upload, project, positions: new Map() }
    uploads.requireOpen(upload)
    projects.requireActive(project)
    if (input.as_one_item && upload.targetItemId !== null)
      throw invalidField('as_one_item', 'cannot be combined with target_item_id of the session, whose item receives the files')
    if (upload.targetCollectionId) await collections.requireIn(db, project.id, upload.targetCollectionId)
    const target = upload.targetItemId === null ? null : (await items.requireEditor(db, principal, upload.targetItemId)).item
    const positions = positionsOf(input.positions ?? [], await uploadFiles.list(db, upload.id))
    return { upload, project, positions, ...(target ? { target } : {}) }
  },
  async prepare(context, { as_one_item: isOneItem }, { upload: session, positions }): Promise<Prepared> {
    if (session.state === 'completed') return { ingested: [], place: null }
    const files = await uploadedFiles(context, session, positions)
    const { ingested, rejected } = await ingestFiles(context, session, files, positions)
    if (rejected.length === 0) {
      try {
        return { ingested, place: isOneItem ? await placeOfAll(context, session.organizationId, ingested) : null }
      } catch (error) {
        await discard(context, refsOf(ingested))
        throw error
      }
    }
    await recordRejected(context, session, rejected, ingested.length > 0)
    throw rejection(rejected, ingested.length > 0)
  },
  async execute(context, { as_one_item: isOneItem }, { upload: session, target }, { ingested, place }) {
    context.attributeTo(session.organizationId)
    let isKept = false
    try {
      const current = await uploads.lock(context.tx, session.id)
      if (current.state === 'completed') {
        context.lineage.nothingProduced()
        return { id: current.id, item_ids: current.itemIds }
      }
      if (isOneItem) requireOneScene(ingested)
      const itemIds = await complete(context, uploads.requireOpen(current), { target: target ?? null, place }, ingested)
      isKept = true
      return { id: current.id, item_ids: itemIds }
    } finally {
      if (!isKept) await discard(context, refsOf(ingested))
    }
  },
})

/** Only copies are discarded: a file that was uploaded in parts is not copied, and another call can complete the session with it. */
const refsOf = (ingested: readonly IngestedFile[]) => ingested.filter(({ isCopy }) => isCopy).map(({ at }) => at)

async function complete(
  context: WriteContext,
  session: uploads.Upload,
  { target, place }: { target: items.Item | null } & Pick<Prepared, 'place'>,
  ingested: readonly IngestedFile[],
): Promise<string[]> {
  const { tx, clock, events, tasks } = context
  const now = clock.now()
  const stored = target
    ? await addToItem(context, session, target, ingested)
    : place
      ? await createOneItem(context, session, ingested, place)
      : await createItems(context, session, ingested)
  const itemIds = [...new Set(stored.map(({ itemId }) => itemId))]
  for (const file of stored) {
    await uploadFiles.store(tx, file, now)
    if (file.sourceKey !== null) await tasks.enqueue(convertUploadTask, { file_id: file.id })
  }
  const totalBytes = ingested.reduce((sum, { size }) => sum + size, 0)
  await uploads.complete(tx, session.id, { itemIds, bytes: totalBytes }, now)
  await tasks.enqueue(clearUploadTask, { upload_id: session.id })
  events.emit('upload.completed', session.id, {
    id: session.id,
    project_id: session.projectId,
    item_ids: itemIds,
    file_count: ingested.length,
    total_bytes: totalBytes,
    completed_at: now.toISOString(),
  })
  return itemIds
}

/** The files of a session, all of which must be uploaded. A file that was rejected without a position counts again once it has one. */
async function uploadedFiles(
  { db, storage, signal }: Context,
  session: uploads.Upload,
  positions: Checked['positions'],
): Promise<UploadedFile[]> {
  const all = await uploadFiles.list(db, session.id)
  const waiting = all.filter(uploadFiles.waitsForPosition)
  const files = all.filter((file) => file.state === 'awaiting' || (waiting.includes(file) && positions.has(file.id)))
  if (files.length === 0 && waiting.length > 0)
    throw rejection(
      waiting.map((file) => ({ file, reason: file.error!, lacksPosition: true })),
      false,
    )
  if (files.length === 0)
    throw problem(
      'bad-request',
      'No file has been uploaded: request a URL with uploads.signed_url, PUT the file there, then complete the session',
    )
  if (all.length < session.fileCount)
    throw problem(
      'bad-request',
      `The session was opened for ${session.fileCount} files, but upload URLs were requested for ${all.length} of them ` +
        `(${all.map(({ name }) => name).join(', ')}); upload the others first`,
    )
  const missing: string[] = []
  const uploaded: UploadedFile[] = []
  for (const file of files) {
    const place = (await joinParts({ db, storage, signal }, session, file)) ? await placeOfUpload({ storage, signal }, session, file) : null
    if (place) uploaded.push({ file, ...place })
    else missing.push(file.name)
  }
  if (missing.length > 0)
    throw problem(
      'bad-request',
      `${missing.join(', ')} ${missing.length > 1 ? 'have' : 'has'} not been uploaded yet: ` +
        `PUT ${missing.length > 1 ? 'each' : 'it'} to the URL from uploads.signed_url`,
    )
  return uploaded
}

/** No URL accepts another file at the key of an upload in parts, once it is complete. */
async function placeOfUpload(
  { storage, signal }: Pick<Context, 'storage' | 'signal'>,
  { bucket }: uploads.Upload,
  { partsKey, objectKey }: uploadFiles.UploadFile,
): Promise<Pick<UploadedFile, 'at' | 'isSealed'> | null> {
  for (const [key, isSealed] of [
    [partsKey, true],
    [objectKey, false],
  ] as const) {
    if (key !== null && (await storage.stat({ bucket, key }, signal)) !== null) return { at: { bucket, key }, isSealed }
  }
  return null
}

/** Completes a multipart upload. Returns false if a part is missing. */
async function joinParts(
  { db, storage, signal }: Pick<Context, 'db' | 'storage' | 'signal'>,
  { bucket }: uploads.Upload,
  file: uploadFiles.UploadFile,
): Promise<boolean> {
  const parts = uploadFiles.partsOf(file, bucket)
  if (!parts) return true
  try {
    await storage.multipart.complete(parts, signal)
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not-found') return false
    throw error
  }
  await uploadFiles.endParts(db, file.id, parts.id)
  return true
}

/**
 * Rejected files leave the session, and a session without any other file fails and releases its reserved storage. A file
 * that only lacks a position stays, and keeps its session open.
 */
async function recordRejected(
  { db, clock, storage }: Context,
  session: uploads.Upload,
  rejected: readonly RejectedFile[],
  hasOthers: boolean,
): Promise<void> {
  const now = clock.now()
  const removed = rejected.filter(({ lacksPosition }) => !lacksPosition)
  await db.transaction().execute(async (tx) => {
    if ((await uploads.lock(tx, session.id)).closedAt) return
    for (const { file, reason, lacksPosition } of rejected) await uploadFiles.refuse(tx, file.id, { error: reason, lacksPosition }, now)
    if (!hasOthers && removed.length === rejected.length)
      await uploads.fail(tx, session.id, { step: 'check', message: `${rejected[0]!.file.name}: ${rejected[0]!.reason}` }, now)
  })
  await discard(
    { storage },
    removed.flatMap(({ file: { objectKey, partsKey } }) =>
      [objectKey, partsKey].flatMap((key) => (key === null ? [] : [{ bucket: session.bucket, key }])),
    ),
  )
}

async function createItems(
  { tx, principal, clock, lineage, events }: WriteContext,
  session: uploads.Upload,
  ingested: readonly IngestedFile[],
): Promise<uploadFiles.Stored[]> {
  const { organizationId, projectId, isCategorical } = session
  const now = clock.now()
  await projects.lock(tx, projectId)
  if (session.targetCollectionId) await collections.lock(tx, projectId, session.targetCollectionId)
  await settle(tx, session, ingested)
  const newAssets = ingested.map((file) => toAsset(file, session.assetKey ?? 'data', isCategorical))
  const inserted = await itemWrite.insert(
    tx,
    { organizationId, projectId, createdBy: principal.userId, now },
    ingested.map((file, index) => toItem(file, session, newAssets[index]!)),
  )
  for (const [index, created] of inserted.entries()) {
    const { key, bandNames, id } = newAssets[index]!
    await visualizationProfiles.insertDefault(
      tx,
      { organizationId, itemSeq: created.seq, createdBy: principal.userId, now },
      initialProfile(ingested[index]!.info, bandNames!, isCategorical),
      key === 'data' ? null : key,
    )
    lineage.record('item', created.id, 'uploaded', { kind: 'project', id: projectId })
    lineage.record('asset', id, 'uploaded', { kind: 'item', id: created.id })
    events.emit('item.created', created.id, items.summary(created))
  }
  return ingested.map((file, index) => storedAs(file, inserted[index]!.id, newAssets[index]!.id))
}

/** The files as one item, which covers all of them and is described by the finest. Its style follows from its bands. */
async function createOneItem(
  { tx, principal, clock, lineage, events }: WriteContext,
  session: uploads.Upload,
  ingested: readonly IngestedFile[],
  place: itemPlaces.Place,
): Promise<uploadFiles.Stored[]> {
  const { organizationId, projectId, isCategorical } = session
  const now = clock.now()
  await projects.lock(tx, projectId)
  if (session.targetCollectionId) await collections.lock(tx, projectId, session.targetCollectionId)
  await settle(tx, session, ingested)
  const fileNames = ingested.map(({ file }) => file.name)
  const [keys, names] = [keysOf(fileNames), commonNamesOf(fileNames)]
  const newAssets = ingested.map((file, index) => ({
    ...toAsset(file, keys[index]!, isCategorical),
    bandNames: [names[index] ?? keys[index]!],
  }))
  const sizes = ingested.map(({ info }) => groundPixelM(info))
  const finest = sizes.indexOf(Math.min(...sizes))
  const item = { ...toItem(ingested[finest]!, session, newAssets[finest]!), ...place, assets: newAssets }
  const [created] = await itemWrite.insert(tx, { organizationId, projectId, createdBy: principal.userId, now }, [item])
  lineage.record('item', created!.id, 'uploaded', { kind: 'project', id: projectId })
  for (const { id } of newAssets) lineage.record('asset', id, 'uploaded', { kind: 'item', id: created!.id })
  events.emit('item.created', created!.id, items.summary(created!))
  return ingested.map((file, index) => storedAs(file, created!.id, newAssets[index]!.id))
}

async function addToItem(
  { tx, clock, lineage, events }: WriteContext,
  session: uploads.Upload,
  target: items.Item,
  ingested: readonly IngestedFile[],
): Promise<uploadFiles.Stored[]> {
  const { organizationId, projectId } = session
  const now = clock.now()
  await projects.lock(tx, projectId)
  const held = await items.lock(tx, target.seq)
  await settle(tx, session, ingested)
  const keys = new Set((await assets.list(tx, held.seq)).map(({ key }) => key))
  const newAssets = ingested.map((file) => {
    const key = assets.freeKey(session.assetKey ?? 'data', keys)
    keys.add(key)
    return toAsset(file, key, session.isCategorical)
  })
  await assets.add(tx, { organizationId, projectId, itemSeq: held.seq, now }, newAssets)
  for (const { id } of newAssets) lineage.record('asset', id, 'uploaded', { kind: 'item', id: held.id })
  events.emit('item.updated', held.id, { ...items.summary(held), changed_fields: ['assets'] })
  return ingested.map((file, index) => storedAs(file, held.id, newAssets[index]!.id))
}

const settle = (tx: WriteContext['tx'], session: uploads.Upload, ingested: readonly IngestedFile[]): Promise<void> =>
  storageAccounts.settle(tx, session.organizationId, {
    reserved: session.reservedBytes,
    stored: ingested.reduce((sum, { size }) => sum + size, 0),
  })

const storedAs = ({ file, size, at, inspection, position }: IngestedFile, itemId: string, assetId: string): uploadFiles.Stored => ({
  id: file.id,
  sizeBytes: size,
  itemId,
  assetId,
  sourceKey: inspection ? null : at.key,
  position,
})
