/** The dates of the item's collection, one after the other, in the style of the item. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Item } from '../../../api/contract.ts'
import { classes } from '../../../ui/classes.ts'
import { date, plural } from '../../../ui/format.ts'
import { Button, Choice } from '../../../ui/kit.ts'
import { loadLater } from '../../../ui/load-later.tsx'
import { Failed, Skeleton } from '../../../ui/states.tsx'
import { ToolPanel } from '../tool-panel.tsx'
import type { ItemStyle } from '../use-item-style.ts'
import { SPEEDS, speedOf, speedText } from './frames.ts'
import { useTimelapse } from './use-timelapse.ts'
import styles from './timelapse-tool.module.css'
import toolPanelStyles from '../tool-panel.module.css'
import ui from '../../../ui/ui.module.css'

const TimelapseExport = loadLater(async () => (await import('./timelapse-export.tsx')).TimelapseExport)

type Timelapse = ReturnType<typeof useTimelapse>

interface TimelapseToolParts {
  item: Item
  itemStyle: ItemStyle
  /** Of the item's layer; 0 if it is hidden. */
  opacity: number
}

export function TimelapseTool({ item, itemStyle, opacity }: TimelapseToolParts): ReactElement {
  const [isExporting, setExporting] = useState(false)
  const timelapse = useTimelapse(item, itemStyle, opacity)
  const { frames, index, isPlaying, player, speed, collection } = timelapse
  const toggle = () => (isPlaying ? timelapse.pause() : timelapse.play())
  useSpace(frames.length > 1 ? toggle : null)
  return (
    <ToolPanel title="Timelapse" summary={frames.length > 1 && <FrameDate {...timelapse} />}>
      {collection.isError ? (
        <Failed error={collection.error} retry={() => void collection.refetch()} />
      ) : collection.isLoading ? (
        <Skeleton rows={2} />
      ) : frames.length < 2 ? (
        <p className={classes(ui.soft, ui.small)}>
          A timelapse needs scenes of this place on at least two dates. Add them to the collection of the item.
        </p>
      ) : (
        <>
          <input
            type="range"
            aria-label="Date"
            aria-valuetext={date(frames[index]!.day)}
            min={0}
            max={frames.length - 1}
            value={index}
            onChange={(event) => timelapse.goTo(Number(event.target.value))}
          />
          <Controls {...timelapse} toggle={toggle} />
          <Button
            size="s"
            icon="down"
            disabled={!player || timelapse.shown === null}
            onClick={() => {
              timelapse.pause()
              setExporting(true)
            }}
          >
            Export timelapse
          </Button>
        </>
      )}
      {isExporting && player && (
        <TimelapseExport
          {...{ item, itemStyle, frames, player, speed }}
          onClose={() => {
            setExporting(false)
            player.goTo(index)
          }}
        />
      )}
    </ToolPanel>
  )
}

/** The date that is on the map; while another one is loaded, it says so. */
function FrameDate({ frames, index, shown, isPlaying }: Timelapse): ReactElement {
  const isLoading = shown?.index !== index
  const current = frames[shown?.index ?? index]!
  const gaps = shown?.hasGaps ? '. Some tiles could not be loaded.' : ''
  return (
    <div>
      {/* While frames play, saying each date aloud would never end. */}
      <div className={toolPanelStyles.result} aria-live={isPlaying ? 'off' : 'polite'}>
        {date(current.day)}
      </div>
      <p className={classes(ui.soft, ui.small, ui.numeric)}>
        {isLoading && !isPlaying
          ? `Loading ${date(frames[index]!.day)}…`
          : `${(shown?.index ?? index) + 1} of ${plural(frames.length, 'date')}${gaps}`}
      </p>
    </div>
  )
}

function Controls({ isPlaying, speed, step, setSpeed, toggle }: Timelapse & { toggle(): void }): ReactElement {
  return (
    <div className={classes(ui.flexRow, ui.gap6)}>
      <Button size="s" icon="right" className={styles.previous} label="Previous date" onClick={() => step(-1)} />
      <Button size="s" variant="primary" icon={isPlaying ? 'pause' : 'play'} className={styles.play} onClick={toggle}>
        {isPlaying ? 'Pause' : 'Play'}
      </Button>
      <Button size="s" icon="right" label="Next date" onClick={() => step(1)} />
      <Choice
        label="Speed"
        hideLabel
        className={ui.grow}
        value={speed}
        onChange={(event) => setSpeed(speedOf(event.target.value))}
        options={SPEEDS.map((value) => ({ value, text: speedText(value) }))}
      />
    </div>
  )
}

/** Space plays and pauses while the map has the focus. */
function useSpace(toggle: (() => void) | null): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!toggle || event.key !== ' ' || event.defaultPrevented) return
      if (!(event.target as HTMLElement).closest('[role=application]')) return
      event.preventDefault()
      toggle()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}
