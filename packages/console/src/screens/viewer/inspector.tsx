/** The panel beside the map: style, pixel values, statistics and metadata, one tab each. */
import type { ReactElement, ReactNode } from 'react'
import type { Asset, Item } from '../../api/contract.ts'
import { usePanel, useUrl } from '../../state/url.ts'
import { LinkButton } from '../../ui/kit.ts'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { MetadataTab } from './metadata-tab.tsx'
import { PixelTab } from './pixel-tab.tsx'
import { StatisticsTab } from './statistics-tab.tsx'
import { StyleTab } from './style-tab.tsx'
import { PHONE_TABS, TABS, type Tab } from './tabs.ts'
import type { ItemStyle } from './use-item-style.ts'
import type { Pointer } from './use-pointer.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './inspector.module.css'
import ui from '../../ui/ui.module.css'

interface InspectorParts {
  item: Item
  assets: readonly Asset[]
  itemStyle: ItemStyle
  tab: Tab
  pointer: Pointer
  mayWrite: boolean
  /** The layers and actions of the item on a phone; elsewhere they have their own panel. */
  layers: ReactNode
}

export function Inspector(parts: InspectorParts): ReactElement {
  const { tab, layers } = parts
  const [, setUrl] = useUrl()
  return (
    <aside className={classes(workspaceStyles.panel, workspaceStyles.right, workspaceStyles.onPhone)} aria-label="Inspector">
      <i className={workspaceStyles.sheetHandle} />
      <div className={styles.tabs} role="tablist" aria-label="Inspector">
        {(layers ? PHONE_TABS : TABS).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="tab-panel"
            aria-selected={name === tab}
            className={name === tab ? styles.selected : ''}
            onClick={() => setUrl({ tab: name === 'Style' ? null : name.toLowerCase() }, true)}
          >
            {name}
          </button>
        ))}
      </div>
      <div className={workspaceStyles.scroll} role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <h2 className={ui.screenReaderOnly}>{tab}</h2>
        <TabContent {...parts} />
      </div>
    </aside>
  )
}

function TabContent({ item, assets, itemStyle, tab, pointer, mayWrite, layers }: InspectorParts): ReactElement {
  const mapClients = usePanel('use')
  const { asset, isReady, isLoadingPresets, assetKey, bands, presets, style, check, setStyle, startAdjusting } = itemStyle
  if (tab === 'Layers') return <>{layers}</>
  if (tab === 'Metadata') return <MetadataTab item={item} assets={assets} mayWrite={mayWrite} onUse={() => mapClients.open('qgis')} />
  if (!asset) return <NoRaster item={item} mayWrite={mayWrite} />
  if (tab === 'Pixel') return <PixelTab itemId={item.id} assetKey={assetKey} style={style} bands={bands} pointer={pointer} />
  if (tab === 'Statistics') return <StatisticsTab item={item} assetKey={assetKey} style={style} />
  if (!isReady || isLoadingPresets) return <Skeleton />
  return (
    <StyleTab {...{ bands, presets, style, check, assetKey, mayWrite }} itemId={item.id} onStyle={setStyle} onAdjust={startAdjusting} />
  )
}

const NoRaster = ({ item, mayWrite }: { item: Item; mayWrite: boolean }): ReactElement => (
  <Empty
    icon="image"
    title="No raster"
    actions={
      mayWrite && (
        <LinkButton to="/uploads" search={{ item: item.id, project: item.project_id }}>
          Attach file
        </LinkButton>
      )
    }
  >
    This item has no raster to show. See Metadata for its properties.
  </Empty>
)
