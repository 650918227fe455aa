import { memo, type ReactElement } from 'react'
import { toggleInCart } from '../../state/cart.ts'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import type { Scene } from '../../state/scene.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { audOfCredits, count, dateShort, metres, percent } from '../../ui/format.ts'
import { approximateCredits } from './scenes.ts'
import { classes } from '../../ui/classes.ts'
import styles from './scene-row.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

interface SceneRowParts {
  scene: Scene
  area: GeoJSON.Polygon | null
  isSelected: boolean
  isHovered: boolean
  isInCart: boolean
  onHover(key: string | null): void
  onPick(scene: Scene): void
}

const openText = ({ label, source }: Scene) => (label === source ? 'open data' : source)

function rateText(scene: Scene): string {
  if (scene.kind === 'item') return ''
  if (scene.creditsPerKm2 !== null) return `${count(scene.creditsPerKm2)} credits/km²`
  return scene.product === null ? openText(scene) : 'price on estimate'
}

export const SceneRow = memo(function SceneRow({
  scene,
  area,
  isSelected,
  isHovered,
  isInCart,
  onHover,
  onPick,
}: SceneRowParts): ReactElement {
  const credits = approximateCredits(scene, area)
  const day = dateShort(scene.datetime)
  return (
    <li
      className={classes(styles.scene, isSelected ? styles.selected : '', isHovered ? styles.hovered : '')}
      onMouseEnter={() => onHover(scene.key)}
      onMouseLeave={() => onHover(null)}
    >
      <div className={styles.thumbnail}>
        <AuthImage path={scene.thumbnail} alt="" />
        {scene.product !== null && (
          <input
            type="checkbox"
            className={listStyles.checkOverlay}
            checked={isInCart}
            aria-label={`Order ${scene.source} of ${day}`}
            onChange={() => toggleInCart(scene, area)}
          />
        )}
      </div>
      <div className={styles.line}>
        <button
          type="button"
          className={classes(styles.title, ui.asText)}
          onClick={() => onPick(scene)}
          aria-current={isSelected || undefined}
          title={scene.label}
        >
          <span className={ui.ellipsis}>{scene.label}</span>{' '}
          {scene.gsd !== null && <span className={classes(ui.soft, ui.noWrap)}>{metres(scene.gsd)}</span>}
        </button>
        <span className={classes(styles.price, ui.numeric)}>
          {scene.kind === 'item' ? '' : credits !== null ? audOfCredits(credits) : scene.product === null ? 'Free' : ''}
        </span>
      </div>
      <div className={classes(styles.line, styles.facts)}>
        <span>{day}</span>
        {scene.cloud !== null && (
          <span className={styles.cloud} style={{ '--v': scene.cloud }}>
            {percent(Math.round(scene.cloud))}
          </span>
        )}
        {scene.isSimulated && <SimulatedBadge />}
        {scene.covered !== null && <span className={ui.ellipsis}>{percent(Math.round(scene.covered * 100))} of area</span>}
        <span className={styles.unitPrice}>{rateText(scene)}</span>
      </div>
    </li>
  )
})
