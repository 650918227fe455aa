/** On the map: the style of the selected scene, whether its tiles are loading or failed, and whose imagery it is. */
import { useState, type ReactElement } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import type { Scene } from '../../state/scene.ts'
import type { UrlPatch } from '../../state/url.ts'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Segmented } from '../../ui/kit.ts'
import { Licence } from '../../parts/licence.tsx'
import mapSlotStyles from '../../map/map-slot.module.css'
import { SHOWN_STYLES } from './scene-styles.ts'
import styles from './scene-style.module.css'
import ui from '../../ui/ui.module.css'
import type { SceneTiles } from './use-scene-tiles.ts'

interface SceneStyleParts {
  scene: Scene | null
  source: CatalogSource | null
  tiles: SceneTiles
  url: Readonly<Record<string, string>>
  onStyle(patch: UrlPatch): void
}

const OTHERS = 'others'

export function SceneStylePanel({ scene, source, tiles, url, onStyle }: SceneStyleParts): ReactElement | null {
  const { styles: choices, style, state } = tiles
  const [isTyping, setTyping] = useState(false)
  if (!style || !source || !scene?.tiles) return null
  const { attribution, licence } = scene.terms
  const choose = (id: string) => onStyle({ style: id, expr: null, cmap: null })
  const others = choices.slice(SHOWN_STYLES)
  const isCustom = style.expression !== undefined
  return (
    <section className={classes(mapSlotStyles.floating, styles.panel)} aria-label="Scene on the map">
      <div className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
        <Segmented
          label="Style of the scene"
          value={style.id}
          onChange={choose}
          options={choices.slice(0, SHOWN_STYLES).map(({ id, label }) => ({ value: id, text: label }))}
        />
        {others.length > 0 && (
          <select
            aria-label="More styles"
            className={styles.more}
            value={others.some(({ id }) => id === style.id) ? style.id : OTHERS}
            onChange={(event) => choose(event.target.value)}
          >
            <option value={OTHERS} disabled>
              More styles
            </option>
            {others.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        )}
        <Button size="s" aria-expanded={isTyping || isCustom} onClick={() => setTyping(!isTyping)}>
          Expression
        </Button>
        {source.simulated && <SimulatedBadge />}
        <span role="status" className={classes(ui.soft, ui.small)}>
          {state.isLoading ? 'Loading…' : ''}
        </span>
      </div>
      {(isTyping || isCustom) && <ExpressionForm url={url} onStyle={onStyle} />}
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

/** Band math of the scene's own bands, as in the viewer. It is drawn when it is submitted. */
function ExpressionForm({ url, onStyle }: Pick<SceneStyleParts, 'url' | 'onStyle'>): ReactElement {
  const maps = useOp('cog.colormaps', {}, { staleTime: 3_600_000 })
  const [text, setText] = useState(url['expr'] ?? '')
  const [colormap, setColormap] = useState(url['cmap'] ?? 'viridis')
  return (
    <form
      className={classes(ui.flexRow, ui.gap8, ui.wrap)}
      onSubmit={(event) => {
        event.preventDefault()
        onStyle(text.trim() ? { expr: text.trim(), cmap: colormap, style: null } : { expr: null, cmap: null })
      }}
    >
      <input
        aria-label="Expression"
        className={styles.expression}
        placeholder="(nir-red)/(nir+red)"
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <select aria-label="Colormap" className={styles.more} value={colormap} onChange={(event) => setColormap(event.target.value)}>
        {(maps.data?.groups ?? [])
          .flatMap(({ colormaps }) => colormaps)
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
      <Button size="s" type="submit">
        Apply
      </Button>
    </form>
  )
}
