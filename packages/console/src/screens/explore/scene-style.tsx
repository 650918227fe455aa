/** On the map: the style of the selected scene, whether its tiles are loading or failed, and whose imagery it is. */
import type { ReactElement } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import type { FoundItem } from '../../state/found-item.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icons.tsx'
import { Segmented } from '../../ui/kit.ts'
import { Licence } from '../../parts/licence.tsx'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './scene-style.module.css'
import ui from '../../ui/ui.module.css'
import { useSceneTiles } from './use-scene-tiles.ts'

interface SceneStyleParts {
  scene: Scene | null
  source: CatalogSource | null
  /** The ID of a style, from the address. */
  requested: string | undefined
  /** Shown while no scene is. */
  backdrop: FoundItem | null
  onStyle(id: string): void
}

export function SceneStylePanel({ scene, source, requested, backdrop, onStyle }: SceneStyleParts): ReactElement | null {
  const { styles: choices, style, state } = useSceneTiles({ scene, source, requested, backdrop })
  if (!style || !source || !scene) return null
  const { attribution, licence } = scene.terms
  return (
    <section className={classes(mapSlotStyles.floating, styles.panel)} aria-label="Scene on the map">
      <div className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
        <Segmented
          label="Style of the scene"
          value={style.id}
          onChange={onStyle}
          options={choices.map(({ id, label }) => ({ value: id, text: label }))}
        />
        {source.simulated && <SimulatedBadge />}
        <span role="status" className={classes(ui.soft, ui.small)}>
          {state.isLoading ? 'Loading…' : ''}
        </span>
      </div>
      {state.failure && (
        <p role="alert" className={classes(ui.small, styles.failure)}>
          <Icon name="warn" />
          <span>
            {style.label}: {state.failure}
          </span>
        </p>
      )}
      <p className={classes(ui.soft, ui.tiny)}>
        {attribution}
        {attribution && licence && '. '}
        {licence && (
          <>
            Licence: <Licence terms={scene.terms} />
          </>
        )}
      </p>
    </section>
  )
}
