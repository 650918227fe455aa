/** Choose a collection or an item as the backdrop of all maps. A collection of open scenes is an open mosaic. */
import { useState, type ReactElement } from 'react'
import { useOp } from '../api/query.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Choice } from '../ui/kit.ts'
import { Offer, Offers } from '../ui/offers.tsx'
import { classes } from '../ui/classes.ts'
import { chooseBackdrop, useBackdrop, type Backdrop } from './backdrop.ts'
import styles from './imagery-dialog.module.css'
import ui from '../ui/ui.module.css'

const MAX_ITEMS = 50

interface ImageryChoice {
  backdrop: NonNullable<Backdrop> & { name: string }
  about: string
}

export default function ImageryDialog({ onClose }: { onClose(): void }): ReactElement {
  const chosen = useBackdrop()
  const [project, setProject] = useState<string | null>(null)
  const projects = useOp('projects.list', {})
  const projectId = project ?? projects.data?.projects[0]?.id ?? ''
  const collections = useOp('collections.list', { project_id: projectId }, { enabled: projectId !== '' })
  const items = useOp('items.list', { project_id: projectId, limit: MAX_ITEMS }, { enabled: projectId !== '' })
  const choices: ImageryChoice[] = [
    ...(collections.data ?? []).map(({ id, name }) => ({
      backdrop: { kind: 'collection' as const, id, name },
      about: 'Collection',
    })),
    ...(items.data?.items ?? [])
      .filter(({ type }) => type !== 'user_vector')
      .map(({ id, name, stac_id }) => ({ backdrop: { kind: 'item' as const, id, name: name ?? stac_id }, about: 'Item' })),
  ]
  const choose = (backdrop: Backdrop) => {
    void chooseBackdrop(backdrop)
    onClose()
  }
  return (
    <Dialog title="Imagery behind all maps" onClose={onClose}>
      <p className={classes(ui.soft, styles.about)}>Only you see it. A collection is shown as one mosaic, with its newest items on top.</p>
      <Choice
        label="Project"
        value={projectId}
        onChange={(event) => setProject(event.target.value)}
        options={(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, text: name }))}
      />
      <Offers label="Imagery">
        {choices.map(({ backdrop, about }) => (
          <Offer
            key={backdrop.id}
            name={backdrop.name}
            about={about}
            isChosen={chosen?.id === backdrop.id}
            onPick={() => choose(backdrop)}
          />
        ))}
      </Offers>
      {choices.length === 0 && !collections.isPending && !items.isPending && <p className={ui.soft}>This project has no imagery.</p>}
      {chosen !== null && chosen.kind !== 'map' && (
        <Button onClick={() => choose(null)} icon="globe">
          Use the built-in map
        </Button>
      )}
    </Dialog>
  )
}
