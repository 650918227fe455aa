/** One file of the queue: its progress, or why it failed, and what can be done. */
import { useState, type ReactElement } from 'react'
import { Icon } from '../../ui/icons.tsx'
import { Bar, Button, LinkButton, State } from '../../ui/kit.ts'
import { errorOf, progressOf } from './file-progress.ts'
import { PositionDialog } from './position-dialog.tsx'
import { queue, replaceFile, type QueuedFile } from './upload-queue.ts'
import { classes } from '../../ui/classes.ts'
import buttonStyles from '../../ui/button.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

export function FileRow({ file }: { file: QueuedFile }): ReactElement {
  const { state, text, share } = progressOf(file)
  return (
    <li className={listStyles.entry}>
      <span className={listStyles.thumbnail}>
        <Icon name={state === 'failed' ? 'warn' : state === 'ready' ? 'check' : 'image'} />
      </span>
      <div className={classes(ui.grow, ui.flexColumn, ui.gap4)}>
        <span className={classes(ui.flexRow, ui.gap6)}>
          <b className={ui.ellipsis}>{file.name}</b> <State of={state} />
        </span>
        {state === 'failed' ? (
          <span className={classes(ui.danger, ui.small)} role="alert">
            {errorOf(file)}
          </span>
        ) : (
          <span className={classes(ui.soft, ui.small)}>{text}</span>
        )}
        {share !== null && <Bar label={`Progress of ${file.name}`} share={share} />}
      </div>
      <FileActions file={file} />
      <Button size="s" variant="quiet" icon="x" label={`Remove ${file.name}`} onClick={() => queue.remove(file.key)} />
    </li>
  )
}

function FileActions({ file }: { file: QueuedFile }): ReactElement | null {
  const [isPositioning, setPositioning] = useState(false)
  const { key, name, state, uploadId, lacksPosition, isRejected, session } = file
  const itemId = session?.item_ids[0] ?? session?.files[0]?.item_id
  if (lacksPosition)
    return (
      <>
        <Button size="s" icon="pin" onClick={() => setPositioning(true)}>
          Set position
        </Button>
        {isPositioning && <PositionDialog name={name} fileKey={key} onClose={() => setPositioning(false)} />}
      </>
    )
  if (state === 'uploading')
    return (
      <Button size="s" onClick={() => queue.pause(key)}>
        Pause
      </Button>
    )
  if (isRejected) return <ReplaceFile file={file} />
  if (state === 'paused' || (state === 'failed' && uploadId))
    return (
      <Button size="s" onClick={() => queue.resume(key)}>
        {state === 'paused' ? 'Resume' : 'Retry'}
      </Button>
    )
  if (state === 'done' && itemId)
    return (
      <LinkButton size="s" icon="layers" to="/view/$item" params={{ item: itemId }}>
        Open
      </LinkButton>
    )
  return null
}

const ReplaceFile = ({ file: { key, name } }: { file: QueuedFile }): ReactElement => (
  <label className={classes(buttonStyles.button, buttonStyles.small)}>
    Replace
    <input
      type="file"
      className={ui.screenReaderOnly}
      aria-label={`Replace ${name}`}
      accept=".tif,.tiff,image/tiff"
      onChange={({ target }) => {
        const [file] = target.files ?? []
        if (file) replaceFile(key, file)
      }}
    />
  </label>
)
