/** Cloud cover of a scene: of the whole scene, and over the area if its source has a cloud mask. */
import type { ReactElement } from 'react'
import type { AreaShape } from '../../map/geo.ts'
import { useOp } from '../../api/query.ts'
import type { Scene } from '../../state/scene.ts'
import { percent } from '../../ui/format.ts'
import ui from '../../ui/ui.module.css'

const STALE_MS = 3_600_000

export function AreaCloud({ scene, area }: { scene: Scene; area: AreaShape | null }): ReactElement {
  const isOpen = scene.kind === 'catalog' && !scene.isForSale && scene.tiles !== null && scene.cloud !== null
  const { data } = useOp(
    'catalog.scene.cloud_cover',
    { host_name: scene.host, id: scene.id, area: { ...area } },
    { enabled: isOpen && area !== null, staleTime: STALE_MS },
  )
  const over = data?.area_cloud_cover ?? null
  if (area === null || over === null) return <>{percent(scene.cloud)}</>
  return (
    <>
      {percent(Math.round(over))} over your area
      <br />
      <span className={ui.soft}>{percent(scene.cloud)} of the scene</span>
    </>
  )
}
