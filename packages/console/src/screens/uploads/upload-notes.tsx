/** How much storage is left, and what the service does with a file. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { bytes } from '../../ui/format.ts'
import { Bar, Card, Note } from '../../ui/kit.ts'
import { Loaded } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './upload-notes.module.css'
import ui from '../../ui/ui.module.css'

/** `toItem`: the files become assets of an item. */
export function UploadNotes({ toItem }: { toItem: boolean }): ReactElement {
  const who = useWho()
  return (
    <div className={classes(ui.flexColumn, ui.gap16)}>
      {who.isAdmin && <StorageCard />}
      <Card title="Processing steps">
        <ol className={styles.steps}>
          <li>
            <b>Check</b> the content of the file
          </li>
          <li>
            <b>Convert</b> to COG if needed
          </li>
          <li>
            <b>Read</b> bands, footprint and statistics
          </li>
          <li>
            <b>Choose a style</b>: natural colour, elevation or classes
          </li>
        </ol>
      </Card>
      {toItem && <Note>The file becomes an asset of the item you came from.</Note>}
    </div>
  )
}

function StorageCard(): ReactElement {
  const usage = useOp('usage.current', {})
  return (
    <Card title="Storage" aside={usage.data && <span className={classes(ui.soft, ui.small)}>Plan: {usage.data.plan_id}</span>}>
      <Loaded query={usage} rows={1}>
        {({ storage_bytes, storage_reserved_bytes, limits }) => (
          <>
            <b className={classes(ui.largePrice, ui.numeric)}>{bytes(storage_bytes)}</b>
            <p className={classes(ui.soft, ui.small)}>
              of {bytes(limits.storage_bytes)}
              {storage_reserved_bytes > 0 && `, ${bytes(storage_reserved_bytes)} reserved for uploads`}
            </p>
            <div className={ui.marginTop8}>
              <Bar
                label="Storage used"
                share={storage_bytes / limits.storage_bytes}
                hatched={storage_reserved_bytes / limits.storage_bytes}
              />
            </div>
          </>
        )}
      </Loaded>
    </Card>
  )
}
