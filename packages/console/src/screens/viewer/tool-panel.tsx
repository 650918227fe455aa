/** The panel of the tool in use: on the map, and on a phone a low sheet in place of the inspector, which folds. */
import { useState, type ReactElement, type ReactNode } from 'react'
import { classes } from '../../ui/classes.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { Button } from '../../ui/kit.ts'
import { useTool } from './use-tool.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './tool-panel.module.css'
import ui from '../../ui/ui.module.css'

interface ToolPanelParts {
  title: string
  /** What can be read while the sheet is folded, too. */
  summary?: ReactNode
  /** Of the sheet on a phone: with less in it, the map has more room. */
  size?: 'low' | 'high' | undefined
  children: ReactNode
}

export function ToolPanel({ title, summary, size, children }: ToolPanelParts): ReactElement {
  const [, setTool] = useTool()
  const isPhone = useIsPhone()
  const [isChosen, setChosen] = useState(false)
  const isFolded = isPhone && isChosen
  return (
    <section
      className={classes(
        mapSlotStyles.floating,
        styles.toolPanel,
        size === 'low' && styles.lowSheet,
        size === 'high' && styles.highSheet,
        isFolded && styles.folded,
        ui.flexColumn,
      )}
      aria-label={title}
    >
      <div className={classes(ui.flexRow, ui.gap4)}>
        <h2 className={classes(ui.small, ui.grow)}>{title}</h2>
        {isPhone && (
          <Button
            size="s"
            variant="quiet"
            icon="chev"
            className={isFolded ? styles.unfold : undefined}
            label={isFolded ? 'Show details' : 'Hide details'}
            onClick={() => setChosen(!isFolded)}
          />
        )}
        <Button size="s" variant="quiet" icon="x" label={`Close ${title.toLowerCase()}`} onClick={() => setTool(null)} />
      </div>
      {summary}
      {!isFolded && children}
    </section>
  )
}
