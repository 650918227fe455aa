/** Areas that are saved under a name, as items of a project without files; and the form that saves one. */
import { useState, type FormEvent, type ReactElement } from 'react'
import type { ItemFeature } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { areaOf, polygonsOf, type AreaShape, type Position } from '../../map/geo.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { foundItem, type FoundItem } from '../../state/found-item.ts'
import { useWritableProjects } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { area as areaText, plural } from '../../ui/format.ts'
import { Button, Choice, Field } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

/** The type of an item that is an area without imagery. */
const TYPE = 'user_vector'
const MAX_AREAS = 200

interface SavedArea extends FoundItem {
  polygons: Position[][][]
}

function savedAreaOf(feature: ItemFeature): SavedArea[] {
  const item = foundItem(feature)
  const polygons = polygonsOf(item.geometry)
  return polygons.length > 0 ? [{ ...item, polygons }] : []
}

export function SaveArea({ area, onClose }: { area: AreaShape; onClose(): void }): ReactElement {
  const { writable } = useWritableProjects()
  const [chosen, setProjectId] = useState('')
  const projectId = chosen || (writable[0]?.id ?? '')
  const [name, setName] = useState('')
  const create = useAct('items.create', ['items'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(
      { project_id: projectId, type: TYPE, name: name.trim(), geometry: { ...area } },
      {
        onSuccess: () => {
          toast('Area saved')
          onClose()
        },
      },
    )
  }
  return (
    <Dialog title="Save area" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <p className={classes(ui.soft, ui.small)}>
          {plural(polygonsOf(area).length, 'polygon')}, {areaText(areaOf(area))}
        </p>
        <Field label="Name" required maxLength={200} data-autofocus value={name} onChange={(event) => setName(event.target.value)} />
        <Choice
          label="Project"
          value={projectId}
          onChange={(event) => setProjectId(event.target.value)}
          options={writable.map(({ id, name: text }) => ({ value: id, text }))}
          help="Everyone who can read the project can use the area."
        />
        <FormProblem error={create.error} />
        <div className={classes(ui.flexRow, ui.justifyEnd)}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending} disabled={name.trim() === '' || projectId === ''}>
            Save area
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface SavedAreasParts {
  /** There is an area that another can be added to. */
  hasArea: boolean
  onUse(polygons: Position[][][], isAdded: boolean): void
  onClose(): void
}

export default function SavedAreas({ hasArea, onUse, onClose }: SavedAreasParts): ReactElement {
  const list = useOp('items.search_org', { type: TYPE, limit: MAX_AREAS })
  const [renamed, setRenamed] = useState<string | null>(null)
  const { writable } = useWritableProjects()
  return (
    <Dialog title="Saved areas" onClose={onClose} size={620}>
      <Loaded
        query={list}
        rows={3}
        empty={({ features }) =>
          features.flatMap(savedAreaOf).length === 0 && (
            <Empty icon="poly" title="No saved areas yet">
              Draw, enter or import an area, then save it under a name.
            </Empty>
          )
        }
      >
        {({ features }) => (
          <ul>
            {features.flatMap(savedAreaOf).map((area) =>
              renamed === area.id ? (
                <RenameRow key={area.id} area={area} onClose={() => setRenamed(null)} />
              ) : (
                <li key={area.id} className={listStyles.withActions}>
                  <div className={ui.grow}>
                    <b className={ui.ellipsis}>{area.name}</b>
                    <div className={classes(ui.soft, ui.small)}>
                      {plural(area.polygons.length, 'polygon')}, {areaText(areaOf(area.geometry))}
                    </div>
                  </div>
                  <Button size="s" label={`Use ${area.name}`} onClick={() => onUse(area.polygons, false)}>
                    Use
                  </Button>
                  {hasArea && (
                    <Button size="s" variant="quiet" label={`Add ${area.name}`} onClick={() => onUse(area.polygons, true)}>
                      Add
                    </Button>
                  )}
                  {writable.length > 0 && (
                    <>
                      <Button size="s" variant="quiet" label={`Rename ${area.name}`} onClick={() => setRenamed(area.id)}>
                        Rename
                      </Button>
                      <Button
                        size="s"
                        variant="quiet"
                        icon="trash"
                        label={`Delete ${area.name}`}
                        onClick={() =>
                          deleteLater({ operation: 'items.delete', input: { item_id: area.id }, name: area.name, touches: ['items'] })
                        }
                      />
                    </>
                  )}
                </li>
              ),
            )}
          </ul>
        )}
      </Loaded>
    </Dialog>
  )
}

function RenameRow({ area, onClose }: { area: SavedArea; onClose(): void }): ReactElement {
  const [name, setName] = useState(area.name)
  const update = useAct('items.update', ['items'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    update.mutate({ item_id: area.id, name: name.trim() }, { onSuccess: onClose })
  }
  return (
    <li className={listStyles.withActions}>
      <form className={classes(ui.flexRow, ui.gap6, ui.grow, ui.wrap)} onSubmit={send}>
        <Field label="New name" required maxLength={200} data-autofocus value={name} onChange={(event) => setName(event.target.value)} />
        <Button size="s" type="submit" variant="primary" busy={update.isPending} disabled={name.trim() === ''}>
          Save name
        </Button>
        <Button size="s" variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <FormProblem error={update.error} />
      </form>
    </li>
  )
}
