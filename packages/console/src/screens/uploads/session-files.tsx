import type { ReactElement } from 'react'
import { bytes } from '../../ui/format.ts'
import { Card } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'
import { FileRow } from './file-row.tsx'
import { useQueuedFiles } from './upload-queue.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

/** The files that were added since the console was opened. */
export function SessionFiles(): ReactElement {
  const files = useQueuedFiles()
  const sent = files.reduce((sum, { sentBytes }) => sum + sentBytes, 0)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  return (
    <Card
      title="This session"
      aside={
        files.length > 0 && (
          <span className={classes(ui.soft, ui.small, ui.numeric)}>
            {bytes(sent)} of {bytes(total)}
          </span>
        )
      }
      flush
    >
      {files.length === 0 ? (
        <Empty icon="up" title="No uploads yet" />
      ) : (
        <ul aria-label="Files">
          {files.map((file) => (
            <FileRow key={file.key} file={file} />
          ))}
        </ul>
      )}
    </Card>
  )
}
