/** Uploads of earlier sessions: the bytes that arrived are kept, and the same file has to be chosen again. */
import type { ReactElement } from 'react'
import type { Upload } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { ago, bytes, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Card } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { continueUpload, useQueuedFiles } from './upload-queue.ts'
import { classes } from '../../ui/classes.ts'
import buttonStyles from '../../ui/button.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const MAX_UNFINISHED = 100

export function UnfinishedUploads({ projectId }: { projectId: string }): ReactElement | null {
  const queued = new Set(useQueuedFiles().map(({ uploadId }) => uploadId))
  const initiated = useOp('uploads.list', { project_id: projectId, status: 'initiated', limit: MAX_UNFINISHED })
  const uploading = useOp('uploads.list', { project_id: projectId, status: 'uploading', limit: MAX_UNFINISHED })
  const unfinished = [...(initiated.data?.uploads ?? []), ...(uploading.data?.uploads ?? [])].filter(({ id }) => !queued.has(id))
  if (unfinished.length === 0) return null
  return (
    <Card title="Unfinished uploads" flush>
      <ul aria-label="Unfinished uploads">
        {unfinished.map((upload) => (
          <UnfinishedRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </Card>
  )
}

/** Why a file was not accepted; null if all can still be. A file without a position only needs one. */
const rejectionOf = ({ files }: Upload): string | null =>
  files.find(({ state, step }) => state === 'refused' && step !== 'position')?.error ?? null

function nextStepOf(upload: Upload): string {
  const rejection = rejectionOf(upload)
  if (rejection !== null) return `Rejected: ${rejection}. Cancel it and upload another file.`
  return upload.file_count === 1 ? 'Choose the same file to resume.' : 'Cancel it to release the storage, then upload the files again.'
}

function UnfinishedRow({ upload }: { upload: Upload }): ReactElement {
  const fail = useAct('uploads.fail', ['uploads', 'usage'])
  const isOne = upload.file_count === 1
  const isRejected = rejectionOf(upload) !== null
  const name = isOne ? (upload.files[0]?.name ?? 'Unnamed file') : plural(upload.file_count, 'file')
  const resume = (input: HTMLInputElement) => {
    const [file] = input.files ?? []
    const mismatch = file ? continueUpload(file, upload) : null
    if (mismatch) toast(mismatch, 'bad')
    input.value = ''
  }
  return (
    <li className={listStyles.entry}>
      <span className={listStyles.thumbnail}>
        <Icon name="image" />
      </span>
      <div className={classes(ui.grow, ui.flexColumn, ui.gap4)}>
        <b className={ui.ellipsis}>{name}</b>
        <span className={classes(ui.soft, ui.small)}>
          {bytes(upload.total_bytes)}, started {ago(upload.created_at)}. {nextStepOf(upload)}
        </span>
      </div>
      {isOne && !isRejected && (
        <label className={classes(buttonStyles.button, buttonStyles.small)}>
          Resume
          <input
            type="file"
            className={ui.screenReaderOnly}
            aria-label={`Resume ${name}`}
            accept=".tif,.tiff,image/tiff"
            onChange={({ target }) => resume(target)}
          />
        </label>
      )}
      <Button
        size="s"
        variant="quiet"
        icon="x"
        label={`Cancel upload of ${name}`}
        busy={fail.isPending}
        onClick={() =>
          fail.mutate(
            { upload_id: upload.id, error_message: 'Cancelled by the user' },
            { onError: (error) => void toast(error.message, 'bad') },
          )
        }
      />
    </li>
  )
}
