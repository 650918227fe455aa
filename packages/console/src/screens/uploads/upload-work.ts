/** The files that this tab uploads. The queue lives outside React, so that leaving the screen stops nothing. */
import { createUploadQueue, type FilePosition, type UploadTarget } from '../../../../client/src/upload-queue.ts'
import { caller } from '../../api/client.ts'
import type { Upload } from '../../api/contract.ts'
import { queries, touch } from '../../api/query.ts'
import { onSessionEnd } from '../../api/session.ts'
import { createStore } from '../../store.ts'

export type { QueuedFile } from '../../../../client/src/upload-queue.ts'

const queue = createUploadQueue(caller, {
  onReady: () => void touch(queries, ['items', 'projects', 'collections', 'usage']),
})
// Nothing is uploaded for a user who has signed out.
onSessionEnd(() => {
  for (const { key } of queue.list()) queue.pause(key)
})

export const pause = (key: string) => queue.pause(key)
export const resume = (key: string) => queue.resume(key)
export const setPosition = (key: string, position: FilePosition) => queue.setPosition(key, position)
export const remove = (key: string) => queue.remove(key)
export const isUploading = () => queue.list().some(({ state }) => state === 'uploading' || state === 'queued')

const files = createStore(queue.list())
queue.subscribe(() => files.set(queue.list()))
export const useQueuedFiles = files.use

/** Refused before a byte moves, with the remedy. */
function refusalOf(file: File): string | null {
  if (/\.(zip|7z|rar|gz)$/i.test(file.name)) return 'It is an archive: unpack it and upload the .tif files in it.'
  if (/\.(jp2|j2k|ecw|img|sid)$/i.test(file.name)) return `Convert it first: gdal_translate -of COG ${file.name} out.tif`
  if (!/\.tiff?$/i.test(file.name)) return 'Only GeoTIFF and COG files (.tif, .tiff) become maps.'
  return file.size === 0 ? 'The file is empty.' : null
}

export function addFiles(added: readonly File[], target: UploadTarget): void {
  for (const file of added) queue.add(file, target, { error: refusalOf(file) })
}

/** Goes on with what another visit began, once the same file is there again; says why it is another one. */
export function continueUpload(file: File, upload: Upload): string | null {
  const [expected] = upload.files
  if (expected && expected.name !== file.name) return `It was '${expected.name}' that was being sent.`
  if (file.size !== upload.total_bytes) return 'It has another size than the file that was being sent.'
  const target = {
    projectId: upload.project_id,
    collectionId: upload.target_collection_id,
    itemId: upload.target_item_id,
    categorical: upload.is_categorical,
  }
  queue.add(file, target, { uploadId: upload.id })
  return null
}
