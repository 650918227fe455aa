/** Name, files and properties of the item. */
import { useState, type ReactElement } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { Asset, Item } from '../../api/contract.ts'
import { deleteItem } from '../../state/delete-later.ts'
import { useAct, useOp } from '../../api/query.ts'
import { isSimulated, SimulatedBadge } from '../../parts/simulated-badge.tsx'
import { OutLink } from '../../ui/out-link.tsx'
import { bytes, dateTime } from '../../ui/format.ts'
import { Button, Facts, Field, State } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { originOf } from './origin.ts'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './metadata-tab.module.css'
import codeStyles from '../../ui/code.module.css'
import ui from '../../ui/ui.module.css'

interface MetadataTabParts {
  item: Item
  assets: readonly Asset[]
  mayWrite: boolean
  onUse(): void
}

export function MetadataTab({ item, assets, mayWrite, onUse }: MetadataTabParts): ReactElement {
  const navigate = useNavigate()
  return (
    <>
      {mayWrite && <NameForm item={item} />}
      <div className={workspaceStyles.section}>
        <h3>Item</h3>
        <Facts
          rows={[
            [
              'ID',
              <span key="id" className={classes(ui.mono, ui.breakAnywhere)}>
                {item.id}
              </span>,
            ],
            ['Created', dateTime(item.created_at)],
            ['Updated', dateTime(item.updated_at)],
            ['Status', <State key="state" of={item.lifecycle_state} />],
            ...(item.expires_at ? [['Expires', dateTime(item.expires_at)] as const] : []),
          ]}
        />
      </div>
      <Origin item={item} />
      <div className={workspaceStyles.section}>
        <h3>Files</h3>
        {assets.length === 0 && <p className={ui.soft}>No files</p>}
        {assets.map((asset) => (
          <FileRow key={asset.id} asset={asset} />
        ))}
      </div>
      <div className={workspaceStyles.section}>
        <h3>Use in other map clients</h3>
        <p className={classes(ui.soft, ui.small)}>URLs for QGIS, GDAL, MapLibre, OpenLayers, Leaflet and ArcGIS.</p>
        <div className={ui.marginTop8}>
          <Button size="s" icon="code" onClick={onUse}>
            Show URLs
          </Button>
        </div>
      </div>
      <div className={workspaceStyles.section}>
        <h3>Properties</h3>
        <pre className={codeStyles.code} tabIndex={0}>
          {JSON.stringify(item.properties, null, 2)}
        </pre>
      </div>
      {mayWrite && (
        <div className={workspaceStyles.section}>
          <Button
            variant="danger"
            icon="trash"
            onClick={() => deleteItem(item, () => void navigate({ to: '/library/$project', params: { project: item.project_id } }))}
          >
            Delete item
          </Button>
        </div>
      )}
    </>
  )
}

/** Whose imagery it is, under which licence, and where it came from. */
function Origin({ item }: { item: Item }): ReactElement | null {
  const isScene = typeof item.properties['svc:scene_host'] === 'string'
  const sources = useOp('catalog.sources.list', {}, { enabled: isScene, staleTime: 300_000 })
  const rows = originOf(item.properties, sources.data?.sources ?? [])
  if (rows.length === 0) return null
  return (
    <div className={workspaceStyles.section}>
      <h3>Origin</h3>
      <Facts
        rows={[
          ...(isSimulated(item.properties) ? [['Imagery', <SimulatedBadge key="simulated" />] as const] : []),
          ...rows.map(({ name, text, url }) => {
            const shown = <span className={ui.breakAnywhere}>{text}</span>
            return [name, url === null ? shown : <OutLink to={url}>{shown}</OutLink>] as const
          }),
        ]}
      />
    </div>
  )
}

function NameForm({ item }: { item: Item }): ReactElement {
  const [name, setName] = useState(item.name)
  const [description, setDescription] = useState(item.description ?? '')
  const update = useAct('items.update', ['items'])
  const isUnchanged = name === item.name && description === (item.description ?? '')
  return (
    <form
      className={classes(workspaceStyles.section, ui.flexColumn, ui.gap12)}
      onSubmit={(event) => {
        event.preventDefault()
        update.mutate({ item_id: item.id, name, description: description || null }, { onSuccess: () => void toast('Item saved') })
      }}
    >
      <Field label="Name" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      <Field label="Description" maxLength={2000} value={description} onChange={(event) => setDescription(event.target.value)} />
      <FormProblem error={update.error} />
      <Button type="submit" size="s" busy={update.isPending} disabled={isUnchanged}>
        Save changes
      </Button>
    </form>
  )
}

function FileRow({ asset }: { asset: Asset }): ReactElement {
  return (
    <div className={styles.file}>
      <b className={ui.breakAnywhere}>{asset.title ?? asset.key}</b> <State of={asset.state} />
      <br />
      <span className={classes(ui.soft, ui.small)}>
        {asset.file_size_bytes === null ? 'By reference' : bytes(asset.file_size_bytes)}
        {asset.band_names ? `, ${asset.band_names.join(' ')}` : ''}
      </span>
    </div>
  )
}
