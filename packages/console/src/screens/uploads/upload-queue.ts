/** The files that this tab uploads. The queue is outside React, so that uploads go on when the screen is left. */
import { createUploadQueue, type UploadTarget } from '../../../../client/src/upload-queue.ts'
import { caller } from '../../api/client.ts'
import type { Upload } from '../../api/contract.ts'
import { queries, touch } from '../../api/query.ts'
import { onSessionEnd } from '../../api/session.ts'
import { createStore } from '../../store.ts'
import { mismatchOf, refusalOf, sceneName, sceneRefusalOf } from './file-checks.ts'

export type { QueuedFile } from '../../../../client/src/upload-queue.ts'

export const queue = createUploadQueue(caller, {
  onReady: () => void touch(queries, ['items', 'projects', 'collections', 'usage']),
})
// Nothing is uploaded for a user who has signed out.
onSessionEnd(() => {
  for (const { key } of queue.list()) queue.pause(key)
})

const files = createStore(queue.list())
queue.subscribe(() => files.set(queue.list()))
export const useQueuedFiles = files.use

export const isUploading = () => queue.list().some(({ state }) => state === 'uploading' || state === 'queued')

/** Files that cannot be uploaded are listed with the reason. */
export function addFiles(added: readonly File[], target: UploadTarget): void {
  for (const file of added) queue.add(file, target, { error: refusalOf(file) })
}

/** In place of a file that was rejected. */
export function replaceFile(key: string, file: File): void {
  queue.replace(key, file, { error: refusalOf(file) })
}

/** Files with one band each become one item, in one upload session. */
export function addScene(files: readonly File[], target: UploadTarget): void {
  const size = files.reduce((sum, file) => sum + file.size, 0)
  queue.add({ name: sceneName(files.map(({ name }) => name)), size, files }, target, { error: sceneRefusalOf(files) })
}

/** Continues an upload of an earlier session with the same file; returns why it is not the same. */
export function continueUpload(file: File, upload: Upload): string | null {
  const mismatch = mismatchOf(file, upload)
  if (mismatch) return mismatch
  const target = {
    projectId: upload.project_id,
    collectionId: upload.target_collection_id,
    itemId: upload.target_item_id,
    categorical: upload.is_categorical,
  }
  queue.add(file, target, { uploadId: upload.id })
  return null
}
