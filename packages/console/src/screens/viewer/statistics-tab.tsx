/** Statistics of zones side by side, and the way to their time series. */
import { useEffect, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { sharedMap } from '../../map/shared-map.ts'
import type { Style } from '../../state/style.ts'
import { usePanel, useUrl } from '../../state/url.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { Button } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'
import { TimeSeries } from './lazy-time-series.ts'
import { useZones } from './use-zones.ts'
import { ZoneStatistics } from './zone-statistics.tsx'
import { ZoneTools } from './zone-tools.tsx'
import workspaceStyles from '../../parts/workspace.module.css'

interface StatisticsTabParts {
  item: Item
  assetKey: string | null
  style: Style
}

export function StatisticsTab({ item, assetKey, style }: StatisticsTabParts): ReactElement {
  const [zones, setZones] = useZones()
  const [url] = useUrl()
  const series = usePanel('series')
  const isPhone = useIsPhone()
  const isSeriesOpen = url['series'] === '1'
  useEffect(() => {
    const coordinates = zones.map(({ shape }) => shape.coordinates)
    sharedMap().setArea(coordinates.length > 0 ? { type: 'MultiPolygon', coordinates } : null)
    return () => sharedMap().setArea(null)
  }, [zones])
  return (
    <>
      <ZoneTools item={item} zones={zones} onZones={setZones} />
      {zones.length === 0 ? (
        <Empty icon="hist" title="No zone to measure">
          Draw or paste one, or use the centre. Statistics use the current style:{' '}
          {style.expression ?? (style.bands ? `bands ${style.bands.join(', ')}` : 'all bands')}.
        </Empty>
      ) : (
        <>
          <ZoneStatistics item={item} assetKey={assetKey} style={style} zones={zones} />
          {item.collection_id !== null && (
            <div className={workspaceStyles.section}>
              <Button icon="hist" aria-expanded={isSeriesOpen} onClick={() => (isSeriesOpen ? series.close() : series.open('1'))}>
                {isSeriesOpen ? 'Close time series' : 'Show time series'}
              </Button>
            </div>
          )}
          {isPhone && isSeriesOpen && <TimeSeries item={item} assetKey={assetKey} style={style} />}
        </>
      )}
    </>
  )
}
