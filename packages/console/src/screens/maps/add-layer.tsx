/** Adds an item, a collection or the shapes of a file as the top layer of a map. */
import { useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { openFile } from '../../map/files/open-file.ts'
import { FileProblem, type Mark } from '../../map/files/limits.ts'
import { AreaProblem } from '../../map/read-area.ts'
import { readShapes, requireFew, type Shape } from '../../map/read-shapes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/kit.ts'
import { Offer, Offers } from '../../ui/offers.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import { emptyLayer, type Layer } from './draft.ts'
import styles from './add-layer.module.css'
import ui from '../../ui/ui.module.css'

const MAX_ITEMS = 50

interface AddParts {
  projectId: string
  onAdd(layer: Layer): void
  onClose(): void
}

export function AddLayer({ projectId, onAdd, onClose }: AddParts): ReactElement {
  const [text, setText] = useState('')
  const q = text.trim()
  const items = useOp('items.list', { project_id: projectId, limit: MAX_ITEMS, ...(q ? { q } : {}) })
  const collections = useOp('collections.list', { project_id: projectId })
  const found = (collections.data ?? []).filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
  const add = (source: Partial<Layer>) => {
    onAdd(emptyLayer(source))
    onClose()
  }
  return (
    <Dialog title="Add layer" onClose={onClose}>
      <Field label="Name or ID" type="search" value={text} onChange={(event) => setText(event.target.value)} />
      <Loaded query={items} rows={4}>
        {(data) => {
          const rasters = data.items.filter(({ type }) => type !== 'user_vector')
          if (rasters.length + found.length === 0)
            return <Empty icon="image" title={q ? 'No imagery matches' : 'This project has no imagery'} />
          return (
            <Offers label="Imagery of this project">
              {found.map(({ id, name }) => (
                <Offer key={id} name={name} about="Collection" onPick={() => add({ collection_id: id, source_name: name })} />
              ))}
              {rasters.map(({ id, name, stac_id }) => (
                <Offer key={id} name={name ?? stac_id} about="Item" onPick={() => add({ item_id: id, source_name: name ?? stac_id })} />
              ))}
            </Offers>
          )
        }}
      </Loaded>
      <FileLayer onAdd={add} />
    </Dialog>
  )
}

const FORMATS = '.zip,.shp,.kml,.kmz,.gpkg,.json,.geojson,.gpx,.wkt,.txt'

async function shapesOf(file: File): Promise<Shape[]> {
  const content = await openFile(file, 'shapes')
  if ('texts' in content) return (await Promise.all(content.texts.map(readShapes))).flat()
  return [
    ...content.polygons.map((coordinates): Shape => ({ name: null, geometry: { type: 'Polygon', coordinates } })),
    ...content.marks.map((mark): Shape => ({ name: null, geometry: geometryOf(mark) })),
  ]
}

const geometryOf = (mark: Mark): GeoJSON.Geometry =>
  mark.length === 1 ? { type: 'Point', coordinates: mark[0]! } : { type: 'LineString', coordinates: mark }

/** A file is read in this browser; only its shapes are saved, with the map. */
function FileLayer({ onAdd }: { onAdd(source: Partial<Layer>): void }): ReactElement {
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const read = async (file: File) => {
    setBusy(true)
    setProblem(null)
    try {
      const shapes = await shapesOf(file)
      requireFew(shapes)
      if (shapes.length === 0) throw new AreaProblem('The file has no points, lines or areas.')
      onAdd({ features: shapes as unknown as Layer['features'], name: file.name.replace(/\.\w+$/, '').slice(0, 200) || 'Shapes' })
    } catch (error) {
      const isKnown = error instanceof FileProblem || error instanceof AreaProblem
      setProblem(isKnown ? error.message : 'The file could not be read.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className={styles.file}>
      <label className={ui.flexColumn}>
        <b className={ui.small}>Vector layer from a file</b>
        <input
          type="file"
          accept={FORMATS}
          disabled={busy}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file) void read(file)
            target.value = ''
          }}
        />
      </label>
      <p className={classes(ui.soft, ui.small)}>Zipped shapefile, KML, KMZ, GeoPackage, GeoJSON, GPX or WKT.</p>
      {problem && (
        <p className={classes(ui.danger, ui.small)} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
