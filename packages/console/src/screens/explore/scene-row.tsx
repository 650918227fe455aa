import type { AreaShape } from '../../map/geo.ts'
import { memo, useEffect, useRef, type ReactElement } from 'react'
import { toggleInCart } from '../../state/cart.ts'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import type { Scene } from '../../state/scene.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { audOfCredits, count, dateShort, metres, percent } from '../../ui/format.ts'
import { PreviewButton } from './preview-button.tsx'
import { canPreview } from './previews.ts'
import { amountText, isRefused, type ScenePrice } from './prices.ts'
import { classes } from '../../ui/classes.ts'
import styles from './scene-row.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

interface SceneRowParts {
  scene: Scene
  /** Undefined until it is known. */
  price: ScenePrice | undefined
  area: AreaShape | null
  isSelected: boolean
  isHovered: boolean
  isInCart: boolean
  isPreviewed: boolean
  onHover(key: string | null): void
  onPick(scene: Scene): void
  onPreview(scene: Scene): void
}

const openText = ({ label, source }: Scene) => (label === source ? 'open data' : source)

function rateText(scene: Scene): string {
  if (scene.kind === 'item') return ''
  if (scene.creditsPerKm2 !== null) return `${count(scene.creditsPerKm2)} credits/km²`
  if (!scene.isForSale) return openText(scene)
  return scene.priceError === null ? '' : 'price not known'
}

function priceText(scene: Scene, price: ScenePrice | undefined): string {
  if (scene.kind === 'item') return ''
  if (!scene.isForSale) return 'Free'
  if (price === undefined) return scene.product === null || scene.hasListPrice ? '…' : 'On request'
  if (isRefused(price)) return 'Cannot be ordered'
  return price.billedByVendor ? amountText(price.billedByVendor) : audOfCredits(price.credits)
}

export const SceneRow = memo(function SceneRow({
  scene,
  price,
  area,
  isSelected,
  isHovered,
  isInCart,
  isPreviewed,
  onHover,
  onPick,
  onPreview,
}: SceneRowParts): ReactElement {
  const refusal = isRefused(price) ? price.refusal : undefined
  const day = dateShort(scene.datetime)
  const row = useRef<HTMLLIElement>(null)
  // A scene that was chosen on the map or by keys may be outside the visible part of the list.
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  return (
    <li
      ref={row}
      className={classes(styles.scene, isSelected ? styles.selected : '', isHovered ? styles.hovered : '')}
      onMouseEnter={() => onHover(scene.key)}
      onMouseLeave={() => onHover(null)}
      onFocus={() => onHover(scene.key)}
      onBlur={() => onHover(null)}
    >
      <div className={styles.thumbnail}>
        <AuthImage path={scene.thumbnail} alt="" />
        {scene.isForSale && refusal === undefined && (
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
          {scene.gsd !== null && <span className={classes(ui.soft, styles.resolution)}>{metres(scene.gsd)}</span>}
        </button>
        <span className={classes(styles.price, ui.numeric, refusal === undefined ? undefined : styles.refused)} title={refusal}>
          {priceText(scene, price)}
        </span>
      </div>
      <div className={classes(styles.line, styles.facts)}>
        <span>{day}</span>
        {scene.cloud !== null && (
          <span className={styles.cloud} style={{ '--v': scene.cloud }}>
            {percent(Math.round(scene.cloud))}
          </span>
        )}
        {scene.covered !== null && <span>{percent(Math.round(scene.covered * 100))} of area</span>}
        {scene.isSimulated && <SimulatedBadge />}
        <span className={styles.unitPrice} title={scene.priceError ?? undefined}>
          {rateText(scene)}
        </span>
        {canPreview(scene) && (
          <PreviewButton
            isOn={isPreviewed}
            label={`Preview on the map, ${day}`}
            title={isPreviewed ? 'Remove preview from the map' : 'Preview on the map'}
            onClick={() => onPreview(scene)}
          />
        )}
      </div>
    </li>
  )
})
