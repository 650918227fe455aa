/** Saves the search, or changes a saved one. New scenes can be added automatically. */
import type { AreaShape } from '../../map/geo.ts'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import type { CatalogSource, SavedSearch } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useWritableProjects } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Check, Choice, Field, Note } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'
import { automationOf, draftFrom, searchFrom, type SearchAction, type SearchDraft } from './saved-search.ts'
import type { Filters } from './scenes.ts'

interface SaveSearchParts {
  filters: Filters
  area: AreaShape
  sources: readonly CatalogSource[]
  url: Readonly<Record<string, string | undefined>>
  onClose(): void
}

export function SaveSearch({ filters, area, sources, url, onClose }: SaveSearchParts): ReactElement {
  const { writable } = useWritableProjects()
  const [projectId, setProjectId] = useState(writable[0]?.id ?? '')
  const [draft, setDraft] = useState(draftFrom(null, filters))
  const create = useAct('saved_searches.create', ['saved_searches'])
  const input = searchFrom(draft, projectId, { filters, area, sources, url })
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (!input) return
    create.mutate(input, {
      onSuccess: () => {
        toast('Search saved')
        onClose()
      },
    })
  }
  return (
    <Dialog title="Save this search" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <NameField draft={draft} onChange={setDraft} />
        <Choice
          label="Project"
          value={projectId}
          onChange={(event) => {
            setProjectId(event.target.value)
            setDraft({ ...draft, collectionId: '' })
          }}
          options={writable.map(({ id, name }) => ({ value: id, text: name }))}
        />
        <AutomationFields draft={draft} projectId={projectId} onChange={setDraft} />
        {!input && (
          <Note tone="warn" icon="warn">
            Only open data can be added automatically. Select at least one open source, or choose to be told about new scenes.
          </Note>
        )}
        <FormProblem error={create.error} />
        <Buttons text="Save search" busy={create.isPending} disabled={!input || projectId === ''} onClose={onClose} />
      </form>
    </Dialog>
  )
}

export function EditSearch({ search, onClose }: { search: SavedSearch; onClose(): void }): ReactElement {
  const [draft, setDraft] = useState(draftFrom(search, null))
  const update = useAct('saved_searches.update', ['saved_searches'])
  const send = (event: FormEvent) => {
    event.preventDefault()
    update.mutate(
      { saved_search_id: search.id, name: draft.name.trim(), ...automationOf(draft, search) },
      {
        onSuccess: () => {
          toast('Search saved')
          onClose()
        },
      },
    )
  }
  return (
    <Dialog title="Edit search" onClose={onClose}>
      <form className={classes(ui.flexColumn, ui.gap12)} onSubmit={send}>
        <NameField draft={draft} onChange={setDraft} />
        <AutomationFields draft={draft} projectId={search.project_id} onChange={setDraft} />
        <FormProblem error={update.error} />
        <Buttons text="Save changes" busy={update.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}

interface DraftParts {
  draft: SearchDraft
  onChange(draft: SearchDraft): void
}

const NameField = ({ draft, onChange }: DraftParts): ReactElement => (
  <Field
    label="Name"
    required
    maxLength={200}
    data-autofocus
    value={draft.name}
    onChange={(event) => onChange({ ...draft, name: event.target.value })}
  />
)

const ACTIONS: readonly { value: SearchAction; text: string }[] = [
  { value: 'add', text: 'Add them to the library' },
  { value: 'tell', text: 'Tell me about them' },
  { value: 'none', text: 'Do nothing' },
]

/** What happens with new scenes, where they go, and which. */
function AutomationFields({ draft, projectId, onChange }: DraftParts & { projectId: string }): ReactElement {
  const { action, maxCloud, mode, collectionId, email } = draft
  const collections = useOp('collections.list', { project_id: projectId }, { enabled: action === 'add' && projectId !== '' })
  return (
    <>
      <Choice
        label="New scenes"
        value={action}
        onChange={(event) => onChange({ ...draft, action: event.target.value as SearchAction })}
        options={ACTIONS}
        help={action === 'none' ? undefined : 'Sources are searched about every hour.'}
      />
      {action !== 'none' && (
        <Field
          label="Maximum cloud cover (%)"
          type="number"
          min={0}
          max={100}
          required
          value={maxCloud}
          onChange={(event) => onChange({ ...draft, maxCloud: event.target.valueAsNumber || 0 })}
        />
      )}
      {action === 'add' && (
        <>
          <Choice
            label="Collection"
            value={collectionId}
            onChange={(event) => onChange({ ...draft, collectionId: event.target.value })}
            options={[{ value: '', text: 'No collection' }, ...(collections.data ?? []).map(({ id, name }) => ({ value: id, text: name }))]}
            help="Alerts and time series apply to a collection."
          />
          <Choice
            label="Storage"
            value={mode}
            onChange={(event) => onChange({ ...draft, mode: event.target.value as SearchDraft['mode'] })}
            options={[
              { value: 'reference', text: 'By reference, free' },
              { value: 'copy', text: 'Copy files into the project' },
            ]}
            help="Copies count towards storage."
          />
        </>
      )}
      {action !== 'none' && (
        <>
          <Check checked={email} onChange={(on) => onChange({ ...draft, email: on })}>
            Email me as soon as there are new scenes
          </Check>
          <p className={classes(ui.soft, ui.small)}>
            New scenes are always in your inbox. To receive them by webhook, subscribe to <code>saved_search.matched</code> in{' '}
            <Link to="/develop/webhooks">Webhooks</Link>.
          </p>
        </>
      )}
    </>
  )
}

interface ButtonsParts {
  text: string
  busy: boolean
  disabled?: boolean
  onClose(): void
}

const Buttons = ({ text, busy, disabled = false, onClose }: ButtonsParts): ReactElement => (
  <div className={classes(ui.flexRow, ui.justifyEnd)}>
    <Button onClick={onClose}>Cancel</Button>
    <Button type="submit" variant="primary" busy={busy} disabled={disabled}>
      {text}
    </Button>
  </div>
)
