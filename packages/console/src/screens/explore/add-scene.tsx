/** Adds an open scene to the library: by reference, or as a copy of its files, whole or clipped to the area. */
import type { AreaShape } from '../../map/geo.ts'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactElement } from 'react'
import type { Input } from '../../api/contract.ts'
import { ProblemError } from '../../api/problem.ts'
import { useAct, useOp } from '../../api/query.ts'
import { SpendRefusal, useSpend } from '../../parts/orders/spend.tsx'
import type { Scene } from '../../state/scene.ts'
import { useUrl } from '../../state/url.ts'
import { useWritableProjects } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { audOfCredits, count } from '../../ui/format.ts'
import { Button, Check, Choice, Segmented } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

interface AddSceneParts {
  scene: Scene
  area: AreaShape | null
}

export function AddScene({ scene, area }: AddSceneParts): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { writable, isPending } = useWritableProjects()
  if (!isPending && writable.length === 0)
    return <p className={classes(ui.soft, ui.small)}>To add it to a project, ask a project admin to make you an editor.</p>
  return (
    <>
      <Button variant="primary" wide icon="plus" disabled={isPending} onClick={() => setOpen(true)}>
        Add to library
      </Button>
      {isOpen && <AddSceneDialog scene={scene} area={area} onClose={() => setOpen(false)} />}
    </>
  )
}

type Mode = 'reference' | 'copy'

const ABOUT: Readonly<Record<Mode, string>> = {
  reference: 'Free and instant. The imagery is rendered from the files of its host and uses none of your storage.',
  copy: 'A job stores the files in the project. They stay available if the host removes the scene.',
}

function AddSceneDialog({ scene, area, onClose }: AddSceneParts & { onClose(): void }): ReactElement {
  const { writable } = useWritableProjects()
  const [projectId, setProjectId] = useState(writable[0]?.id ?? '')
  const [collectionId, setCollectionId] = useState('')
  const [mode, setMode] = useState<Mode>('reference')
  const collections = useOp('collections.list', { project_id: projectId }, { enabled: projectId !== '' })
  const target = { host_name: scene.host, id: scene.id, project_id: projectId, ...(collectionId ? { collection_id: collectionId } : {}) }
  return (
    <Dialog title="Add to library" onClose={onClose}>
      <div className={classes(ui.flexColumn, ui.gap12)}>
        <Choice
          label="Project"
          value={projectId}
          onChange={(event) => {
            setProjectId(event.target.value)
            setCollectionId('')
          }}
          options={writable.map(({ id, name }) => ({ value: id, text: name }))}
        />
        <Choice
          label="Collection"
          value={collectionId}
          onChange={(event) => setCollectionId(event.target.value)}
          options={[{ value: '', text: 'No collection' }, ...(collections.data ?? []).map(({ id, name }) => ({ value: id, text: name }))]}
        />
        <Segmented
          wide
          label="Storage"
          value={mode}
          onChange={setMode}
          options={[
            { value: 'reference', text: 'By reference' },
            { value: 'copy', text: 'Copy files' },
          ]}
        />
        <p className={classes(ui.soft, ui.small)}>{ABOUT[mode]}</p>
        {mode === 'reference' ? <SaveForm target={target} onClose={onClose} /> : <CopyForm {...{ target, area, onClose }} />}
      </div>
    </Dialog>
  )
}

interface Target {
  host_name: string
  id: string
  project_id: string
  collection_id?: string
}

/** Asset keys that a problem lists. */
function assetsIn(error: unknown, name: string): string[] {
  const listed = error instanceof ProblemError ? error.problem[name] : null
  return Array.isArray(listed) ? listed.map(String) : []
}

function SaveForm({ target, onClose }: { target: Target; onClose(): void }): ReactElement {
  const navigate = useNavigate()
  const [{ map, style }] = useUrl()
  const save = useAct('catalog.scene.save', ['items', 'projects', 'collections'])
  const add = (input: Input<'catalog.scene.save'>) =>
    save.mutate(input, {
      onSuccess: ({ item, created }) => {
        toast(created ? 'Added to your library' : 'Already in your library')
        onClose()
        // The same view in the same style, from now on with all tools.
        void navigate({ to: '/view/$item', params: { item: item.id }, search: { ...(map ? { map } : {}), ...(style ? { style } : {}) } })
      },
    })
  const send = (event: FormEvent) => {
    event.preventDefault()
    add(target)
  }
  const readable = assetsIn(save.error, 'readable_assets')
  return (
    <form onSubmit={send} className={classes(ui.flexColumn, ui.gap12)}>
      <FormProblem error={save.error} />
      {readable.length > 0 && (
        <Button busy={save.isPending} onClick={() => add({ ...target, assets: readable })}>
          Add without {assetsIn(save.error, 'unreadable_assets').join(', ')}
        </Button>
      )}
      <Button type="submit" variant="primary" busy={save.isPending}>
        Add to library, free
      </Button>
    </form>
  )
}

function CopyForm({ target, area, onClose }: { target: Target; area: AreaShape | null; onClose(): void }): ReactElement {
  const navigate = useNavigate()
  const [isClipped, setClipped] = useState(area !== null)
  const clip = isClipped && area ? area : null
  const inputs = { host_name: target.host_name, scene_id: target.id, ...(clip ? { geometry: clip } : {}) }
  const estimate = useOp('processing.catalog.estimate', { process_id: 'scene_copy', inputs }, { staleTime: 60_000 })
  const price = estimate.data
  const spend = useSpend('catalog.scene.copy', { ...target, ...(clip ? { area: { ...clip } } : {}) }, ({ job, created }) => {
    toast(created ? 'Copy started' : 'These files were already copied')
    onClose()
    void navigate({ to: '/jobs/$id', params: { id: job.id } })
  })
  return (
    <div className={classes(ui.flexColumn, ui.gap12)}>
      {area && (
        <Check checked={isClipped} onChange={setClipped}>
          Clip to the area of interest
        </Check>
      )}
      {price && price.credits > 0 && <p className={classes(ui.soft, ui.small)}>{count(price.credits)} credits for the clipped files</p>}
      <FormProblem error={estimate.error} />
      <SpendRefusal spend={spend} />
      <Button variant="primary" busy={spend.busy} disabled={!price} onClick={spend.run}>
        {price ? `Copy files, ${price.credits > 0 ? audOfCredits(price.credits) : 'free'}` : 'Calculating price…'}
      </Button>
    </div>
  )
}
