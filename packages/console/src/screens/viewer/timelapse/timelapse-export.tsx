/** The timelapse as a file: which dates, how large, and in a format that this browser can encode. */
import { useEffect, useRef, useState, type ReactElement } from 'react'
import type { Item } from '../../../api/contract.ts'
import type { FramePlayer } from '../../../map/frame-player.ts'
import { classes } from '../../../ui/classes.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { count, date, plural } from '../../../ui/format.ts'
import { Bar, Button, Choice, Note, Segmented } from '../../../ui/kit.ts'
import { saveFile } from '../../../ui/save-file.ts'
import { toast } from '../../../ui/toasts.tsx'
import type { ItemStyle } from '../use-item-style.ts'
import { useViewLegend } from '../use-view-legend.ts'
import { exportTimelapse, plannedLayout } from './export-timelapse.ts'
import { evenly, frameMsOf, MAX_EXPORTED, speedText, type Frame, type Speed } from './frames.ts'
import { canRecord, FORMATS, type AnimationFormat } from './recorder.ts'
import ui from '../../../ui/ui.module.css'

const SIZES = [640, 960, 1280] as const
const DEFAULT_SIZE = '960'

const ABOUT: Readonly<Record<AnimationFormat, string>> = {
  GIF: 'Plays everywhere, with at most 256 colours in each frame.',
  WebP: 'Smaller than GIF, in all colours. Plays in browsers.',
  MP4: 'H.264 video for presentations and players.',
  WebM: 'VP9 or VP8 video for browsers and players.',
}
const ENDINGS: Readonly<Record<AnimationFormat, string>> = { GIF: 'gif', WebP: 'webp', MP4: 'mp4', WebM: 'webm' }

interface TimelapseExportParts {
  item: Item
  itemStyle: ItemStyle
  frames: readonly Frame[]
  player: FramePlayer
  speed: Speed
  onClose(): void
}

export function TimelapseExport({ item, itemStyle, frames, player, speed, onClose }: TimelapseExportParts): ReactElement {
  const [format, setFormat] = useState<AnimationFormat>('GIF')
  const [size, setSize] = useState(DEFAULT_SIZE)
  const [[first, last], setPeriod] = useState<readonly [number, number]>([0, frames.length - 1])
  const [progress, setProgress] = useState<number | null>(null)
  const running = useRef<AbortController | null>(null)
  const legend = useViewLegend(item.id, itemStyle)
  const numbered = frames.map((frame, index) => ({ frame, index })).slice(first, last + 1)
  const exported = evenly(numbered, MAX_EXPORTED)
  const layout = () => plannedLayout(frames, Number(size), legend !== null)
  const isPossible = useSupport(format, layout, `${size} ${legend !== null}`)
  useEffect(() => () => running.current?.abort(), [])
  const save = async () => {
    const run = new AbortController()
    running.current = run
    setProgress(0)
    try {
      const parts = { format, layout: layout(), frameMs: frameMsOf(speed), legend, player, frames: exported }
      saveFile(`${item.name} timelapse.${ENDINGS[format]}`, await exportTimelapse(parts, run.signal, setProgress))
      onClose()
    } catch (error) {
      if (!run.signal.aborted) toast(`The timelapse could not be exported. ${(error as Error).message}`, 'bad')
    } finally {
      setProgress(null)
    }
  }
  return (
    <Dialog title="Export timelapse" onClose={onClose}>
      {progress === null ? (
        <form
          className={classes(ui.flexColumn, ui.gap12)}
          onSubmit={(event) => {
            event.preventDefault()
            void save()
          }}
        >
          <Segmented label="Format" wide value={format} onChange={setFormat} options={FORMATS.map((value) => ({ value, text: value }))} />
          <p className={ui.soft}>{ABOUT[format]}</p>
          <Period frames={frames} first={first} last={last} onChange={setPeriod} />
          <Choice
            label="Longer side"
            value={size}
            onChange={(event) => setSize(event.target.value)}
            options={SIZES.map((pixels) => ({ value: String(pixels), text: `${count(pixels)} px` }))}
            help="The map is never enlarged."
          />
          <Contents count={exported.length} of={numbered.length} speed={speed} />
          {isPossible === false && <Unsupported format={format} />}
          <Button type="submit" variant="primary" icon="down" disabled={isPossible !== true} autoFocus={running.current !== null}>
            Download {format}
          </Button>
        </form>
      ) : (
        <div className={classes(ui.flexColumn, ui.gap12)}>
          <p className={ui.numeric}>{progress < exported.length ? `Frame ${progress + 1} of ${exported.length}` : 'Writing the file…'}</p>
          <Bar label="Export" share={progress / exported.length} />
          {/* What had the focus is gone. */}
          <Button autoFocus onClick={() => running.current?.abort()}>
            Cancel export
          </Button>
        </div>
      )}
    </Dialog>
  )
}

interface PeriodParts {
  frames: readonly Frame[]
  first: number
  last: number
  onChange(period: readonly [number, number]): void
}

/** A timelapse has at least two dates. */
function Period({ frames, first, last, onChange }: PeriodParts): ReactElement {
  const options = frames.map(({ day }, index) => ({ value: String(index), text: date(day) }))
  return (
    <div className={ui.pair}>
      <Choice
        label="First date"
        value={String(first)}
        onChange={(event) => onChange([Number(event.target.value), last])}
        options={options.slice(0, last)}
      />
      <Choice
        label="Last date"
        value={String(last)}
        onChange={(event) => onChange([first, Number(event.target.value)])}
        options={options.slice(first + 1)}
      />
    </div>
  )
}

const Contents = ({ count: exported, of, speed }: { count: number; of: number; speed: Speed }): ReactElement => (
  <p className={classes(ui.soft, ui.small)}>
    {plural(exported, 'frame')}
    {of > exported && ` of ${plural(of, 'date')}, evenly spaced`}, {speedText(speed)}, each with its date. Legend and attribution are below
    the map.
  </p>
)

/** Null until the browser has said it. */
function useSupport(format: AnimationFormat, layout: () => { width: number; height: number }, key: string): boolean | null {
  const [support, setSupport] = useState<{ of: string; isPossible: boolean } | null>(null)
  const asked = `${format} ${key}`
  useEffect(() => {
    let isGone = false
    void canRecord(format, layout()).then((isPossible) => {
      if (!isGone) setSupport({ of: asked, isPossible })
    })
    return () => {
      isGone = true
    }
    // oxlint-disable-next-line exhaustive-deps
  }, [asked])
  return support?.of === asked ? support.isPossible : null
}

const Unsupported = ({ format }: { format: AnimationFormat }): ReactElement => (
  <Note tone="warn" icon="warn">
    This browser cannot create {format} files of this size. Choose another format, or use another browser.
  </Note>
)
