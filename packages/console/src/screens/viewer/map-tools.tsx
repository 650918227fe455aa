/** The toolbar on the map of an item, and the tool in use. Tools are loaded when they are first used. */
import { useEffect, useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { ToolButton } from '../../map/tool-button.tsx'
import { useUrl } from '../../state/url.ts'
import { classes } from '../../ui/classes.ts'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { isTyping } from '../../ui/keys.ts'
import { loadLater } from '../../ui/load-later.tsx'
import { useTool, type Tool } from './use-tool.ts'
import type { ItemStyle } from './use-item-style.ts'
import type { Tab } from './tabs.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './map-tools.module.css'

const PathTool = loadLater(async () => (await import('./path-tool.tsx')).PathTool)
const Coordinates = loadLater(async () => (await import('./coordinates.tsx')).Coordinates)
const ExportDialog = loadLater(async () => (await import('./export-dialog.tsx')).ExportDialog)
const TimelapseTool = loadLater(async () => (await import('./timelapse/timelapse-tool.tsx')).TimelapseTool)
const SwipeTool = loadLater(async () => (await import('./swipe-tool.tsx')).SwipeTool)

type Choice = Tool | 'inspect'

const BUTTONS: readonly { tool: Choice; icon: IconName; text: string; letter: string }[] = [
  { tool: 'inspect', icon: 'drop', text: 'Inspect pixels (X)', letter: 'x' },
  { tool: 'zone', icon: 'poly', text: 'Draw zone (Z)', letter: 'z' },
  { tool: 'distance', icon: 'ruler', text: 'Measure distance (M)', letter: 'm' },
  { tool: 'area', icon: 'shape', text: 'Measure area (A)', letter: 'a' },
  { tool: 'profile', icon: 'profile', text: 'Draw profile (P)', letter: 'p' },
  { tool: 'swipe', icon: 'swipe', text: 'Swipe (S)', letter: 's' },
  { tool: 'timelapse', icon: 'film', text: 'Timelapse (T)', letter: 't' },
]

interface MapToolsParts {
  item: Item
  itemStyle: ItemStyle
  tab: Tab
  /** Of the item's layer; 0 if it is hidden. */
  opacity: number
}

export function MapTools({ item, itemStyle, tab, opacity }: MapToolsParts): ReactElement {
  const [, setUrl] = useUrl()
  const [tool, setTool] = useTool()
  const [isExporting, setExporting] = useState(false)
  const active: Choice | null = tool ?? (tab === 'Pixel' ? 'inspect' : null)
  const choose = (next: Choice | null) => {
    if (next === 'inspect') return setUrl({ tool: null, line: null, against: null, at: null, frame: null, tab: 'pixel' })
    if (active === 'inspect' && next === null) return setUrl({ tab: null })
    setTool(next)
  }
  const toggle = (next: Choice) => choose(next === active ? null : next)
  useToolKeys(active, { toggle, end: () => choose(null) })
  return (
    <>
      <div
        className={classes(mapSlotStyles.floating, mapSlotStyles.toolbar, mapSlotStyles.horizontal, styles.tools)}
        role="toolbar"
        aria-label="Map tools"
      >
        {BUTTONS.map(({ tool: each, icon, text }) => (
          <ToolButton key={each} icon={icon} text={text} isActive={each === active} onClick={() => toggle(each)} />
        ))}
        <hr />
        <button
          type="button"
          aria-label="Export view"
          title="Export view"
          aria-haspopup="dialog"
          onClick={() => {
            if (tool) setTool(null) // What it draws is not part of the map.
            setExporting(true)
          }}
        >
          <Icon name="down" />
        </button>
      </div>
      {isExporting && <ExportDialog item={item} itemStyle={itemStyle} onClose={() => setExporting(false)} />}
      <Coordinates itemId={item.id} />
      {tool === 'swipe' && <SwipeTool item={item} itemStyle={itemStyle} />}
      {tool === 'timelapse' && <TimelapseTool item={item} itemStyle={itemStyle} opacity={opacity} />}
      {tool !== null && tool !== 'swipe' && tool !== 'timelapse' && <PathTool key={tool} tool={tool} item={item} itemStyle={itemStyle} />}
    </>
  )
}

/** Letters choose a tool while the map has the focus; Esc ends the one in use. */
function useToolKeys(active: Choice | null, { toggle, end }: { toggle(tool: Choice): void; end(): void }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const target = event.target as HTMLElement
      if (event.key === 'Escape' && active && !target.closest('dialog, [popover]')) return end()
      if (isTyping(event) || !target.closest(`.${mapSlotStyles.slot}`)) return
      const button = BUTTONS.find(({ letter }) => letter === event.key)
      if (button) toggle(button.tool)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}
