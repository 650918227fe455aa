/** How much of the area the scenes in the cart cover together, as the service computes it, in numbers and on the map. */
import { useEffect, type ReactElement } from 'react'
import type { AreaShape } from '../../map/geo.ts'
import { useOp } from '../../api/query.ts'
import { withSharedMap } from '../../map/lazy-map.ts'
import { useCart } from '../../state/cart.ts'
import { classes } from '../../ui/classes.ts'
import { area as areaText, percent } from '../../ui/format.ts'
import styles from './cart-coverage.module.css'
import ui from '../../ui/ui.module.css'

const STALE_MS = 3_600_000

export function CartCoverage({ area }: { area: AreaShape | null }): ReactElement | null {
  const cart = useCart()
  const footprints = cart.flatMap(({ geometry }) =>
    geometry?.type === 'Polygon' || geometry?.type === 'MultiPolygon' ? [{ ...geometry }] : [],
  )
  const isShown = area !== null && footprints.length > 0
  const { data } = useOp('catalog.coverage', { area: { ...area }, footprints }, { enabled: isShown, keep: true, staleTime: STALE_MS })
  const covered = isShown ? ((data?.covered ?? null) as GeoJSON.Geometry | null) : null
  useEffect(() => {
    void withSharedMap((shared) => shared.setCoverage(covered))
    return () => void withSharedMap((shared) => shared.setCoverage(null))
  }, [covered])
  if (!isShown || !data) return null
  const share = data.covered_percent
  return (
    <div className={classes(styles.coverage, ui.small)} role="status">
      <span className={styles.coverageBar} aria-hidden="true">
        <i style={{ '--share': share }} />
      </span>
      <span>
        <b className={ui.numeric}>{percent(share >= 99.95 ? 100 : Math.floor(share * 10) / 10)}</b> of your area
        <span className={ui.soft}>, {areaText(data.covered_km2 * 1e6)}</span>
      </span>
    </div>
  )
}
