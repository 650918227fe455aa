/** Files on their way to the store. The line lives outside React, so that leaving the screen stops nothing. */
import { call, sendFiles } from '../../api/client.ts'
import type { Upload } from '../../api/contract.ts'
import { queries, touch } from '../../api/query.ts'
import { isProblem } from '../../api/problem.ts'
import { onSessionEnd } from '../../api/session.ts'
import { createUploadLine, type Sending, type Target } from './upload-line.ts'

export type { Sending } from './upload-line.ts'

const POLL_MS = 2_000
const MAX_POLLS = 900
const TYPE = 'image/tiff'

const line = createUploadLine<File>({
  async open(file, target) {
    const { id } = await call('uploads.initiate', {
      project_id: target.projectId,
      transfer_method: 'signed_url',
      file_count: 1,
      total_bytes: file.size,
      ...(target.itemId ? { target_item_id: target.itemId } : { target_collection_id: target.collectionId }),
      is_categorical: target.isCategorical,
    })
    return id
  },
  async send(uploadId, file, { projectId }, { signal, position, onSent }) {
    await sendFiles({
      projectId,
      files: [{ name: file.name, data: file, type: TYPE }],
      resume: { uploadId, done: position ? [file.name] : [] },
      positions: position ? [position] : [],
      onProgress: ({ sentBytes }) => onSent(sentBytes),
      signal,
    })
  },
  lacksPosition: (error) => isProblem(error, 'position-required'),
  follow,
  giveUp(uploadId) {
    void call('uploads.fail', { upload_id: uploadId, error_message: 'Given up by the person who uploaded' }).catch(() => undefined)
  },
})
// Nothing is sent for somebody who has left.
onSessionEnd(() => {
  for (const { key } of line.list()) line.pause(key)
})

export const { pause, resume, place, discard } = line
export const useSending = line.useList
export const isSending = () => line.list().some(({ state }) => state === 'uploading' || state === 'queued')

/** Refused before a byte moves, with the remedy. */
function refusalOf(file: File): string | null {
  if (/\.(zip|7z|rar|gz)$/i.test(file.name)) return 'It is an archive: unpack it and upload the .tif files in it.'
  if (/\.(jp2|j2k|ecw|img|sid)$/i.test(file.name)) return `Convert it first: gdal_translate -of COG ${file.name} out.tif`
  if (!/\.tiff?$/i.test(file.name)) return 'Only GeoTIFF and COG files (.tif, .tiff) become maps.'
  return file.size === 0 ? 'The file is empty.' : null
}

export function addFiles(added: readonly File[], target: Target): void {
  for (const file of added) line.add(file, target, { error: refusalOf(file) })
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
    isCategorical: upload.is_categorical,
  }
  line.add(file, target, { uploadId: upload.id })
  return null
}

/** Until each file is ready or refused. */
async function follow(uploadId: string, onChange: (session: Upload) => void): Promise<Pick<Sending, 'state' | 'error'>> {
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const session = await call('uploads.progress', { upload_id: uploadId })
    onChange(session)
    const refused = session.files.find(({ state }) => state === 'refused' || state === 'failed')
    if (refused) return { state: 'failed', error: refused.error ?? session.error_message }
    if (session.status === 'failed') return { state: 'failed', error: session.error_message }
    if (session.files.every(({ state }) => state === 'ready')) {
      void touch(queries, ['items', 'projects', 'collections', 'usage'])
      return { state: 'done', error: null }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return { state: 'finishing', error: null }
}
