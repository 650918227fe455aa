/** One named map: its layers beside it, and whatever is on it. */
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import type { Project } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { CentreMark } from '../../map/centre-mark.tsx'
import type { Box } from '../../map/geo.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { useCamera } from '../../map/use-camera.ts'
import { cameraNow, RenameMap } from '../../parts/maps.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { useTitle } from '../../state/crumbs.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useWho } from '../../state/who.ts'
import { Button, LinkButton } from '../../ui/kit.ts'
import { Empty, Failed, FormProblem, Skeleton } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import { AddLayer } from './add-layer.tsx'
import { Annotations } from './annotations.tsx'
import { Comments } from './comments.tsx'
import { addLayer, changeGroup, changeLayer, draftOf, groupLayer, removeLayer, toInput, type Draft, type SavedMap } from './draft.ts'
import { LayerDetails } from './layer-details.tsx'
import { LayerList } from './layer-list.tsx'
import { MapLegend } from './map-legend.tsx'
import { useMapLayers } from './use-map-layers.ts'
import type { MarkMode } from './use-mark.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './map.module.css'
import ui from '../../ui/ui.module.css'

const isMissing = (error: unknown) => [403, 404].includes((error as { status?: number } | null)?.status ?? 0)

export function MapPage(): ReactElement {
  const { map: id } = useParams({ from: '/inside/maps/$map' })
  const map = useOp('maps.get', { map_id: id })
  const project = useOp('projects.get', { project_id: map.data?.project_id ?? '' }, { enabled: map.data !== undefined })
  useTitle({ text: 'Maps', to: '/maps' }, map.data?.name ?? 'Map')
  if (isMissing(map.error))
    return (
      <Empty icon="layers" title="Not found, or you don't have access" actions={<LinkButton to="/maps">Your maps</LinkButton>}>
        This map may be deleted, or its project private.
      </Empty>
    )
  if (map.isError && !map.data) return <Failed error={map.error} retry={() => void map.refetch()} />
  if (!map.data) return <Skeleton rows={6} />
  return <MapView key={id} map={map.data} project={project.data ?? null} />
}

/** Starts from the saved map, and again whenever another version was saved and nothing was changed here. */
function useDraft(map: SavedMap) {
  const [draft, setDraft] = useState(() => draftOf(map))
  const [base, setBase] = useState(map)
  const [isChanged, setChanged] = useState(false)
  if (base.version !== map.version && !isChanged) {
    setBase(map)
    setDraft(draftOf(map))
  }
  const start = (from: SavedMap) => {
    setBase(from)
    setDraft(draftOf(from))
    setChanged(false)
  }
  const change = (next: Draft) => {
    setDraft(next)
    setChanged(true)
  }
  return { draft, version: base.version, isChanged, change, start }
}

function MapView({ map, project }: { map: SavedMap; project: Project | null }): ReactElement {
  const canWrite = mayWrite(useWho(), project)
  const [url, setUrl] = useUrl()
  const edited = useDraft(map)
  const { draft, change } = edited
  const [isAdding, setAdding] = useState(false)
  const [drawing, setDrawing] = useState<MarkMode | null>(null)
  useCamera(url['map'], (place) => setUrl({ map: place }))
  useStart(map, url['map'] !== undefined)
  useMapLayers(draft)
  const selected = draft.layers.find(({ id }) => id === url['layer']) ?? null
  const select = (id: string) => setUrl({ layer: id === selected?.id ? null : id }, true)
  return (
    <div className={workspaceStyles.workspace}>
      <section className={classes(workspaceStyles.panel, workspaceStyles.left)} aria-label="Layers">
        <i className={workspaceStyles.sheetHandle} />
        <MapHeader map={map} canWrite={canWrite} edited={edited} />
        <div className={workspaceStyles.scroll}>
          <div className={classes(workspaceStyles.section, ui.flexRow, ui.between)}>
            <h2 className={ui.panelTitle}>Layers</h2>
            {canWrite && (
              <Button size="s" icon="plus" onClick={() => setAdding(true)}>
                Add layer
              </Button>
            )}
          </div>
          {draft.layers.length === 0 && <p className={classes(workspaceStyles.section, ui.soft)}>This map has no layers yet.</p>}
          <LayerList {...{ draft }} selected={selected?.id ?? null} mayWrite={canWrite} onSelect={select} onChange={change} />
          {selected && canWrite && (
            <LayerDetails
              {...{ draft }}
              layer={selected}
              onChange={(changed) => change(changeLayer(draft, selected.id, changed))}
              onGroup={(name) => change(groupLayer(draft, selected.id, { id: crypto.randomUUID(), name, visible: true }))}
              onRenameGroup={(id, name) => change(changeGroup(draft, id, { name }))}
              onRemove={() => change(removeLayer(draft, selected.id))}
            />
          )}
          <Annotations
            {...{ drawing }}
            annotations={draft.annotations}
            mayWrite={canWrite}
            onDraw={setDrawing}
            onChange={(annotations) => change({ ...draft, annotations })}
          />
          <Comments map={map} project={project} />
        </div>
      </section>
      <MapSlot>
        <MapLegend draft={draft} />
        {drawing && <CentreMark />}
      </MapSlot>
      {isAdding && (
        <AddLayer projectId={map.project_id} onAdd={(layer) => change(addLayer(draft, layer))} onClose={() => setAdding(false)} />
      )}
    </div>
  )
}

/** Where the map was saved, or else where its first item is, unless the address says so. */
function useStart({ camera, layers }: SavedMap, isInAddress: boolean): void {
  const first = layers.find(({ item_id, source_name }) => item_id !== null && source_name !== null)?.item_id ?? null
  const isNeeded = !isInAddress && camera === null && first !== null
  const item = useOp('items.get', { item_id: first ?? '' }, { enabled: isNeeded })
  const box = item.data?.item.bbox as Box | null | undefined
  useEffect(() => {
    if (isInAddress) return
    if (camera) sharedMap().map.jumpTo({ center: [camera.longitude, camera.latitude], zoom: camera.zoom })
    else sharedMap().fit(box, { animate: false })
    // Only when the screen opens: afterwards the user leads.
    // oxlint-disable-next-line exhaustive-deps
  }, [box])
}

interface HeaderParts {
  map: SavedMap
  canWrite: boolean
  edited: ReturnType<typeof useDraft>
}

function MapHeader({ map, canWrite, edited: { draft, version, isChanged, start } }: HeaderParts): ReactElement {
  const navigate = useNavigate()
  const save = useAct('maps.update', ['maps'])
  const [dialog, setDialog] = useState<'share' | 'rename' | null>(null)
  const remove = () => {
    deleteLater({ operation: 'maps.delete', input: { map_id: map.id }, name: map.name, touches: ['maps', 'share'] })
    void navigate({ to: '/maps' })
  }
  const send = () =>
    save.mutate({ map_id: map.id, ...toInput(draft), camera: cameraNow(), version }, { onSuccess: (saved) => start(saved) })
  return (
    <div className={workspaceStyles.section}>
      <h1 className={styles.title} tabIndex={-1}>
        {map.name}
      </h1>
      {map.description && <p className={classes(ui.soft, ui.small)}>{map.description}</p>}
      {canWrite && (
        <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop8)}>
          <Button size="s" variant="primary" icon="check" busy={save.isPending} onClick={send}>
            {isChanged ? 'Save changes' : 'Save view'}
          </Button>
          {isChanged && (
            <Button size="s" variant="quiet" onClick={() => start(map)}>
              Discard
            </Button>
          )}
          <Button size="s" icon="share" onClick={() => setDialog('share')}>
            Share
          </Button>
          <Button size="s" variant="quiet" onClick={() => setDialog('rename')}>
            Rename
          </Button>
          <Button size="s" variant="quiet" icon="trash" label={`Delete ${map.name}`} onClick={remove} />
        </div>
      )}
      {isChanged && <p className={classes(ui.soft, ui.small, ui.marginTop8)}>Not saved yet. People with a link still see the saved map.</p>}
      <FormProblem error={save.error} />
      {dialog === 'share' && <ShareDialog type="map" id={map.id} name={map.name} mayWrite={canWrite} onClose={() => setDialog(null)} />}
      {dialog === 'rename' && <RenameMap map={map} onClose={() => setDialog(null)} />}
    </div>
  )
}
