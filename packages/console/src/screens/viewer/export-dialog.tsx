/** The view as a file: a picture, a page to print, or a georeferenced picture for a GIS. */
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { encodeGeoTiff } from '../../map/geotiff.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { takeSnapshot } from '../../map/snapshot.ts'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Field, Segmented } from '../../ui/kit.ts'
import { saveFile } from '../../ui/save-file.ts'
import { toast } from '../../ui/toasts.tsx'
import type { ItemStyle } from './use-item-style.ts'
import { useViewLegend } from './use-view-legend.ts'
import { viewAsPdf, viewAsPng, type ViewLegend } from './view-picture.ts'
import ui from '../../ui/ui.module.css'

const FORMATS = ['PNG', 'PDF', 'GeoTIFF'] as const
type Format = (typeof FORMATS)[number]

const ABOUT: Readonly<Record<Format, string>> = {
  PNG: 'What you see on the map, with its legend and attribution.',
  PDF: 'A page with title, date, scale bar, north arrow, legend and attribution.',
  GeoTIFF: 'The colours you see, georeferenced in Web Mercator (EPSG:3857). For the values of the file, download it or clip it.',
}
const ENDINGS: Readonly<Record<Format, string>> = { PNG: 'png', PDF: 'pdf', GeoTIFF: 'tif' }
const MAX_TITLE = 80

interface ExportDialogParts {
  item: Item
  itemStyle: ItemStyle
  onClose(): void
}

export function ExportDialog({ item, itemStyle, onClose }: ExportDialogParts): ReactElement {
  const [format, setFormat] = useState<Format>('PNG')
  const [title, setTitle] = useState(item.name.slice(0, MAX_TITLE))
  const [isBusy, setBusy] = useState(false)
  const legend = useViewLegend(item.id, itemStyle)
  const save = async () => {
    setBusy(true)
    try {
      saveFile(`${item.name}.${ENDINGS[format]}`, await fileOf(format, legend, { title: title.trim() || item.name, item }))
      onClose()
    } catch (error) {
      toast(`The view could not be exported. ${(error as Error).message}`, 'bad')
      setBusy(false)
    }
  }
  return (
    <Dialog title="Export view" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Segmented label="Format" wide value={format} onChange={setFormat} options={FORMATS.map((each) => ({ value: each, text: each }))} />
        <p className={ui.soft}>{ABOUT[format]}</p>
        {format === 'PDF' && <Field label="Title" value={title} maxLength={MAX_TITLE} onChange={(event) => setTitle(event.target.value)} />}
        <Button type="submit" variant="primary" icon="down" busy={isBusy}>
          Download {format}
        </Button>
      </form>
    </Dialog>
  )
}

async function fileOf(format: Format, legend: ViewLegend | null, { title, item }: { title: string; item: Item }): Promise<Blob> {
  const snapshot = await takeSnapshot(sharedMap())
  if (format === 'PNG') return await viewAsPng(snapshot, legend)
  if (format === 'PDF') return await viewAsPdf(snapshot, legend, { title, datetime: item.datetime, created: new Date() })
  const { canvas, bounds } = snapshot
  const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
  return await encodeGeoTiff({ width: canvas.width, height: canvas.height, pixels: data, bounds })
}
