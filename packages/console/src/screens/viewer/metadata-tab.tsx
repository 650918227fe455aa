import { useState, type ReactElement } from 'react'
import { useNavigate } from '@tanstack/react-router'
import type { Asset, Item } from '../../api/contract.ts'
import { deleteItem } from '../../state/delete-later.ts'
import { useAct } from '../../api/query.ts'
import { bytes, dateTime } from '../../ui/format.ts'
import { Button, Facts, Field, State } from '../../ui/kit.tsx'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'

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
          className="sec col g12"
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
      <div className="sec">
        <h3>Item</h3>
        <Facts
          rows={[
            [
              'Id',
              <span key="id" className="mono wrap-any">
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
      <div className="sec">
        <h3>Files</h3>
        {assets.length === 0 && <p className="soft">None.</p>}
        {assets.map((asset) => (
          <div key={asset.id} className="row between file-row">
            <span className="grow">
              <b className="wrap-any">{asset.title ?? asset.key}</b> <State of={asset.state} />
              <br />
              <span className="soft sm">
                {asset.file_size_bytes === null ? 'by reference' : bytes(asset.file_size_bytes)}
                {asset.band_names ? `, ${asset.band_names.join(' ')}` : ''}
              </span>
            </span>
          </div>
        ))}
      </div>
      <div className="sec">
        <h3>Use in other programs</h3>
        <p className="soft sm">Addresses for QGIS, GDAL, MapLibre, OpenLayers, Leaflet and ArcGIS.</p>
        <div className="mt8">
          <Button size="s" icon="code" onClick={onUse}>
            Show addresses
          </Button>
        </div>
      </div>
      <div className="sec">
        <h3>Properties</h3>
        <pre className="code" tabIndex={0}>
          {JSON.stringify(item.properties, null, 2)}
        </pre>
      </div>
      {mayWrite && (
        <div className="sec">
          <Button
            look="danger"
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
