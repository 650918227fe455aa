import { useState, type FormEvent, type ReactElement } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { useAct } from '../api/query.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Choice, Field } from '../ui/kit.ts'
import { FormProblem } from '../ui/states.tsx'
import { toast } from '../ui/toasts.tsx'
import { classes } from '../ui/classes.ts'
import styles from './project-dialogs.module.css'
import fieldStyles from '../ui/field.module.css'
import ui from '../ui/ui.module.css'

export function NewProject({ onClose }: { onClose(): void }): ReactElement {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [visibility, setVisibility] = useState<'organization' | 'private'>('organization')
  const create = useAct('projects.create', ['projects'])
  const navigate = useNavigate()
  const send = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(
      { name, description: description || null, visibility },
      {
        onSuccess: ({ id }) => {
          toast(`${name} created`)
          onClose()
          void navigate({ to: '/library/$project', params: { project: id } })
        },
      },
    )
  }
  return (
    <Dialog title="New project" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <Field label="Name" required maxLength={200} data-autofocus value={name} onChange={(event) => setName(event.target.value)} />
        <Field label="Description" maxLength={2000} value={description} onChange={(event) => setDescription(event.target.value)} />
        <Choice
          label="Visibility"
          value={visibility}
          onChange={(event) => setVisibility(event.target.value as 'organization' | 'private')}
          options={[
            { value: 'organization', text: 'Everyone in the organization' },
            { value: 'private', text: 'Project members only' },
          ]}
        />
        <FormProblem error={create.error} />
        <div className={classes(ui.flexRow, ui.justifyEnd)}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create project
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const COLOURS = ['#0e8296', '#c97812', '#6a5acd', '#c2477f', '#4b8f38', '#7a8994']

export function NewCollection({ projectId, onClose }: { projectId: string; onClose(): void }): ReactElement {
  const [name, setName] = useState('')
  const [color, setColor] = useState(COLOURS[0]!)
  const create = useAct('collections.create', ['collections'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ project_id: projectId, name, color }, { onSuccess: onClose })
  }
  return (
    <Dialog title="New collection" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <Field label="Name" required maxLength={200} data-autofocus value={name} onChange={(event) => setName(event.target.value)} />
        <fieldset>
          <legend className={fieldStyles.label}>Colour</legend>
          <div className={ui.flexRow}>
            {COLOURS.map((option) => (
              <button
                key={option}
                type="button"
                className={option === color ? classes(styles.swatch, styles.selected) : styles.swatch}
                style={{ background: option }}
                aria-label={`Colour ${option}`}
                aria-pressed={option === color}
                onClick={() => setColor(option)}
              />
            ))}
          </div>
        </fieldset>
        <FormProblem error={create.error} />
        <div className={classes(ui.flexRow, ui.justifyEnd)}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create collection
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
