import { useState, type ReactElement } from 'react'
import { useAct } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { plural } from '../../ui/format.ts'
import { Button, Note } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

interface ImportStacParts {
  projectId: string
  collectionId: string | null
  onClose(): void
}

/** Imports STAC items by reference: their files stay where they are. */
export function ImportStac({ projectId, collectionId, onClose }: ImportStacParts): ReactElement {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const run = useAct('items.import_stac', ['items', 'projects', 'collections'])
  const send = () => {
    setProblem('')
    if (!text.trim().startsWith('{')) return setProblem('Paste a FeatureCollection, a STAC item, or NDJSON with one item per line.')
    try {
      const value = JSON.parse(text) as { type?: string }
      const features = value.type === 'FeatureCollection' ? value : { type: 'FeatureCollection', features: [value] }
      run.mutate({ project_id: projectId, collection_id: collectionId, features: features as Record<string, unknown> })
    } catch {
      run.mutate({ project_id: projectId, collection_id: collectionId, ndjson: text })
    }
  }
  return (
    <Dialog title="Import STAC items" onClose={onClose} size={620}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <label className={classes(ui.flexColumn, ui.gap6)}>
          <span className={fieldStyles.label}>FeatureCollection, STAC item or NDJSON</span>
          <textarea
            className={classes(fieldStyles.textArea, ui.mono)}
            rows={10}
            required
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {problem && (
          <Note tone="bad" icon="warn">
            {problem}
          </Note>
        )}
        <FormProblem error={run.error} />
        {run.data && (
          <Note tone={run.data.errors.length > 0 ? 'warn' : 'ok'} icon="check">
            <b>{plural(run.data.created, 'item')} imported</b>, {run.data.skipped} already existed.
            {run.data.errors.slice(0, 5).map((error) => (
              <div key={error.index} className={ui.small}>
                {error.id ?? `line ${error.index + 1}`}: {error.message}
              </div>
            ))}
          </Note>
        )}
        <Button type="submit" variant="primary" busy={run.isPending}>
          Import items
        </Button>
      </form>
    </Dialog>
  )
}
