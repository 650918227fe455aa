/** The scenes whose previews are on the map: take one away, or swipe between two. */
import type { ReactElement } from 'react'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import { dateShort, plural } from '../../ui/format.ts'
import { Button } from '../../ui/kit.ts'
import { MAX_PREVIEWS } from './previews.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './preview-list.module.css'
import ui from '../../ui/ui.module.css'

interface PreviewListParts {
  /** The newest is last. */
  scenes: readonly Scene[]
  /** Left and right of the divider; null without one. */
  swiped: readonly [Scene, Scene] | null
  onSwipe(pair: readonly [Scene, Scene] | null): void
  onRemove(scene: Scene): void
  onClear(): void
  onPick(scene: Scene): void
}

export function PreviewList({ scenes, swiped, onSwipe, onRemove, onClear, onPick }: PreviewListParts): ReactElement | null {
  if (scenes.length === 0) return null
  const pair = scenes.slice(-2)
  return (
    <section className={classes(mapSlotStyles.floating, styles.panel)} aria-label="Previews on the map">
      <div className={classes(ui.flexRow, ui.gap8)}>
        <span className={ui.grow} role="status">
          <b>{plural(scenes.length, 'preview')}</b>
          {scenes.length === MAX_PREVIEWS && <span className={ui.soft}> (maximum)</span>}
        </span>
        {scenes.length >= 2 && (
          <Button size="s" icon="swipe" aria-pressed={swiped !== null} onClick={() => onSwipe(swiped ? null : [pair[0]!, pair[1]!])}>
            {swiped ? 'End swipe' : 'Swipe'}
          </Button>
        )}
        <Button size="s" variant="quiet" onClick={onClear}>
          Clear
        </Button>
      </div>
      {swiped && (
        <div className={classes(ui.flexRow, ui.gap8, ui.small)}>
          <SideChoice label="Left scene" scenes={scenes} value={swiped[0]} onChange={(scene) => onSwipe([scene, swiped[1]])} />
          <SideChoice label="Right scene" scenes={scenes} value={swiped[1]} onChange={(scene) => onSwipe([swiped[0], scene])} />
        </div>
      )}
      {!swiped && (
        <ul className={styles.list}>
          {scenes.toReversed().map((scene) => (
            <li key={scene.key}>
              <button type="button" className={classes(ui.asText, ui.ellipsis, ui.grow)} onClick={() => onPick(scene)}>
                {nameOf(scene)}
              </button>
              <Button size="s" variant="quiet" icon="x" label={`Remove preview of ${nameOf(scene)}`} onClick={() => onRemove(scene)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const nameOf = ({ label, datetime }: Scene) => `${dateShort(datetime)}, ${label}`

interface SideParts {
  label: string
  scenes: readonly Scene[]
  value: Scene
  onChange(scene: Scene): void
}

const SideChoice = ({ label, scenes, value, onChange }: SideParts): ReactElement => (
  <select
    aria-label={label}
    className={styles.side}
    value={value.key}
    onChange={(event) => onChange(scenes.find(({ key }) => key === event.target.value)!)}
  >
    {scenes.map((scene) => (
      <option key={scene.key} value={scene.key}>
        {nameOf(scene)}
      </option>
    ))}
  </select>
)
