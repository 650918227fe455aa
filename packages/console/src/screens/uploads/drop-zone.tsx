/** Files are dropped here; beside it, where they go. */
import type { ReactElement } from 'react'
import type { Project } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useUrl } from '../../state/url.ts'
import { Icon } from '../../ui/icons.tsx'
import { Check, Choice } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import styles from './drop-zone.module.css'
import ui from '../../ui/ui.module.css'

interface DropZoneParts {
  writable: readonly Project[]
  projectId: string
  categorical: boolean
  onCategorical(on: boolean): void
  /** Whether the files are the bands of one scene. */
  isScene: boolean
  /** Null if the files go to an item that exists. */
  onScene: ((on: boolean) => void) | null
  onFiles(files: FileList): void
}

export function DropZone({ writable, projectId, categorical, onCategorical, isScene, onScene, onFiles }: DropZoneParts): ReactElement {
  const [url, setUrl] = useUrl()
  const collections = useOp('collections.list', { project_id: projectId }, { enabled: projectId !== '' })
  return (
    <div
      className={styles.dropZone}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        onFiles(event.dataTransfer.files)
      }}
    >
      <span className={styles.icon}>
        <Icon name="up" size={20} />
      </span>
      <div className={ui.grow}>
        <b>Drop files here</b>
        <div className={classes(ui.soft, ui.small)}>.tif and .tiff, up to 10 GiB each. Other formats:</div>
        <span className={classes(ui.mono, ui.small, styles.command)}>gdal_translate -of COG in.jp2 out.tif</span>
      </div>
      <div className={classes(ui.flexColumn, ui.gap6)}>
        {writable.length > 1 && (
          <Choice
            label="Project"
            hideLabel
            value={projectId}
            onChange={(event) => setUrl({ project: event.target.value, collection: null })}
            options={writable.map(({ id, name }) => ({ value: id, text: `Project: ${name}` }))}
          />
        )}
        <Choice
          label="Collection"
          hideLabel
          value={url['collection'] ?? ''}
          onChange={(event) => setUrl({ collection: event.target.value || null })}
          options={[
            { value: '', text: 'No collection' },
            ...(collections.data ?? []).map(({ id, name }) => ({ value: id, text: `Collection: ${name}` })),
          ]}
        />
        <Check checked={categorical} onChange={onCategorical}>
          Categorical data
        </Check>
        {onScene && (
          <Check checked={isScene} onChange={onScene}>
            Bands of one scene, as one item
          </Check>
        )}
      </div>
    </div>
  )
}
