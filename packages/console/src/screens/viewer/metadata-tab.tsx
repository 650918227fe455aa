import { useState, type ReactElement } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { Asset, Item } from '../../api/contract.ts'
import { deleteItem } from '../../state/delete-later.ts'
import { useAct } from '../../api/query.ts'
import { bytes, dateTime } from '../../ui/format.ts'
import { Button, Facts, Field, State } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './viewer.module.css'
import codeStyles from '../../ui/code.module.css'
import ui from '../../ui/ui.module.css'

interface MetadataParts {
  item: Item
  assets: readonly Asset[]
  mayWrite: boolean
  onUse(): void
}

export function MetadataTab({ item, assets, mayWrite, onUse }: MetadataParts): ReactElement {
  const navigate = useNavigate()
  const [name, setName] = useState(item.name)
  const [description, setDescription] = useState(item.description ?? '')
  const update = useAct('items.update', ['items'])
  return (
    <>
      {mayWrite && (
        <form
          className={classes(workspaceStyles.section, ui.flexColumn, ui.gap12)}
          onSubmit={(event) => {
            event.preventDefault()
            update.mutate({ item_id: item.id, name, description: description || null }, { onSuccess: () => void toast('Saved') })
          }}
        >
          <Field label="Name" required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
          <Field label="Description" maxLength={2000} value={description} onChange={(event) => setDescription(event.target.value)} />
          <FormProblem error={update.error} />
          <Button type="submit" size="s" busy={update.isPending} disabled={name === item.name && description === (item.description ?? '')}>
            Save
          </Button>
        </form>
      )}
      <div className={workspaceStyles.section}>
        <h3>Item</h3>
        <Facts
          rows={[
            [
              'Id',
              <span key="id" className={classes(ui.mono, ui.breakAnywhere)}>
                {item.id}
              </span>,
            ],
            ['Made', dateTime(item.created_at)],
            ['Changed', dateTime(item.updated_at)],
            ['State', <State key="state" of={item.lifecycle_state} />],
            ...(item.expires_at ? [['Expires', dateTime(item.expires_at)] as const] : []),
          ]}
        />
      </div>
      <div className={workspaceStyles.section}>
        <h3>Files</h3>
        {assets.length === 0 && <p className={ui.soft}>None.</p>}
        {assets.map((asset) => (
          <div key={asset.id} className={classes(ui.flexRow, ui.between, styles.fileRow)}>
            <span className={ui.grow}>
              <b className={ui.breakAnywhere}>{asset.title ?? asset.key}</b> <State of={asset.state} />
              <br />
              <span className={classes(ui.soft, ui.small)}>
                {asset.file_size_bytes === null ? 'by reference' : bytes(asset.file_size_bytes)}
                {asset.band_names ? `, ${asset.band_names.join(' ')}` : ''}
              </span>
            </span>
          </div>
        ))}
      </div>
      <div className={workspaceStyles.section}>
        <h3>Use in other programs</h3>
        <p className={classes(ui.soft, ui.small)}>Addresses for QGIS, GDAL, MapLibre, OpenLayers, Leaflet and ArcGIS.</p>
        <div className={ui.marginTop8}>
          <Button size="s" icon="code" onClick={onUse}>
            Show addresses
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
            Delete the item
          </Button>
        </div>
      )}
    </>
  )
}
