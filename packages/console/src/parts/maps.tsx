/** Creating and renaming named maps. */
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import type { Input, Output } from '../api/contract.ts'
import { useAct } from '../api/query.ts'
import { sharedMap } from '../map/shared-map.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Choice, Field } from '../ui/kit.ts'
import { FormProblem } from '../ui/states.tsx'
import { classes } from '../ui/classes.ts'
import ui from '../ui/ui.module.css'

const round = (value: number, digits: number) => Number(value.toFixed(digits))

/** What the map shows at the moment. */
export function cameraNow() {
  const { map } = sharedMap()
  const { lng, lat } = map.getCenter().wrap()
  return { longitude: round(lng, 6), latitude: round(lat, 6), zoom: round(map.getZoom(), 3), bearing: 0, pitch: 0 }
}

type NewLayers = NonNullable<Input<'maps.create'>['layers']>

interface NewMapParts {
  title: string
  projects: readonly { id: string; name: string }[]
  /** The layers, and where the map is; without them the map is empty. */
  content?: { layers: NewLayers; camera: ReturnType<typeof cameraNow> }
  onClose(): void
}

/** Opens the map once it is saved. */
export function NewMap({ title, projects, content, onClose }: NewMapParts): ReactElement {
  const navigate = useNavigate()
  const create = useAct('maps.create', ['maps'])
  const [name, setName] = useState('')
  const [project, setProject] = useState(projects[0]?.id ?? '')
  const send = (event: FormEvent) => {
    event.preventDefault()
    const onSuccess = ({ id }: Output<'maps.create'>) => void navigate({ to: '/maps/$map', params: { map: id } })
    create.mutate({ project_id: project, name, ...content }, { onSuccess })
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <Field label="Name" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        {projects.length > 1 && (
          <Choice
            label="Project"
            value={project}
            onChange={(event) => setProject(event.target.value)}
            options={projects.map((each) => ({ value: each.id, text: each.name }))}
            help="The map shows imagery of this project."
          />
        )}
        <FormProblem error={create.error} />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Save map
        </Button>
      </form>
    </Dialog>
  )
}

export function RenameMap({
  map,
  onClose,
}: {
  map: { id: string; name: string; description: string | null }
  onClose(): void
}): ReactElement {
  const update = useAct('maps.update', ['maps'])
  const [name, setName] = useState(map.name)
  const [description, setDescription] = useState(map.description ?? '')
  const send = (event: FormEvent) => {
    event.preventDefault()
    update.mutate({ map_id: map.id, name, description }, { onSuccess: onClose })
  }
  return (
    <Dialog title={`Rename “${map.name}”`} onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <Field label="Name" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        <Field label="Description" maxLength={2_000} value={description} onChange={(event) => setDescription(event.target.value)} />
        <FormProblem error={update.error} />
        <Button type="submit" variant="primary" busy={update.isPending}>
          Save
        </Button>
      </form>
    </Dialog>
  )
}
