/** The item, the items below it, and the base map, as a list from top to bottom. */
import type { ReactElement, ReactNode } from 'react'
import type { Item } from '../../api/contract.ts'
import type { Style } from '../../state/style.ts'
import { backdropName, useBackdrop, useBaseMaps } from '../../map/backdrop.ts'
import { date } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './layer-stack.module.css'
import ui from '../../ui/ui.module.css'

export interface StackParts {
  item: Item
  style: Style
  /** Null for a style that is not saved. */
  styleName: string | null
  opacity: number
  setOpacity(opacity: number): void
  visible: boolean
  setVisible(visible: boolean): void
  /** Ids of the items below. */
  below: readonly string[]
  onBelow(ids: readonly string[]): void
  /** Other items of the collection. */
  siblings: readonly Item[]
}

const contentText = ({ expression, bands }: Style) => (expression ? 'expression' : bands ? `bands ${bands.join(' ')}` : 'default style')

export function LayerStack(parts: StackParts): ReactElement {
  const { item, style, styleName, opacity, setOpacity, visible, setVisible, below, onBelow, siblings } = parts
  const backdrop = backdropName(useBackdrop(), useBaseMaps())
  const opacityText = `${Math.round(opacity * 100)}%`
  return (
    <>
      <div className={classes(workspaceStyles.section, ui.flexRow, ui.between)}>
        <h2 className={ui.panelTitle}>Layers</h2>
      </div>
      <Layer
        isSelected
        name={styleName ?? (style.kind === 'expression' ? 'Expression' : 'Bands')}
        about={item.datetime ? `${date(item.datetime)}, ${contentText(style)}` : contentText(style)}
        end={<span className={classes(ui.soft, ui.small, ui.numeric)}>{opacityText}</span>}
      >
        <Button
          variant="quiet"
          size="s"
          icon={visible ? 'eye' : 'min'}
          label={visible ? 'Hide layer' : 'Show layer'}
          onClick={() => setVisible(!visible)}
        />
      </Layer>
      {below.map((id) => (
        <Layer key={id} name={siblings.find((sibling) => sibling.id === id)?.name ?? 'Item'} about="Default style">
          <Button variant="quiet" size="s" icon="x" label="Remove layer" onClick={() => onBelow(below.filter((other) => other !== id))} />
        </Layer>
      ))}
      <Layer name="Base map" about={backdrop}>
        <span className={styles.icon} aria-hidden="true">
          <Icon name="globe" />
        </span>
      </Layer>
      <div className={workspaceStyles.section}>
        <label className={classes(ui.flexRow, ui.between)}>
          <b className={ui.small}>Opacity</b>
          <span className={classes(ui.soft, ui.numeric)}>{opacityText}</span>
        </label>
        <input
          type="range"
          aria-label="Opacity"
          min={0}
          max={1}
          step={0.01}
          value={opacity}
          onChange={(event) => setOpacity(Number(event.target.value))}
        />
      </div>
    </>
  )
}

interface LayerParts {
  name: string
  about: string
  isSelected?: boolean
  /** Before the name: a button or an icon. */
  children: ReactNode
  end?: ReactNode
}

const Layer = ({ name, about, isSelected, children, end }: LayerParts): ReactElement => (
  <div className={classes(styles.layer, isSelected && styles.selected)}>
    {children}
    <span className={classes(ui.grow, ui.ellipsis)}>
      <b>{name}</b>
      <br />
      <span className={classes(ui.soft, ui.small)}>{about}</span>
    </span>
    {end}
  </div>
)
