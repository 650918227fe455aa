/** One item on the map, alone or above others: its style, its values, its metadata. */
import { useParams } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Asset, Item, Project } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { MapFailure, MapHint } from '../../map/map-hint.tsx'
import { MapSlot } from '../../map/map-slot.tsx'
import { useCamera } from '../../map/use-camera.ts'
import { useTileState } from '../../map/use-tile-state.ts'
import { cameraNow, NewMap } from '../../parts/maps.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { useTitle } from '../../state/crumbs.ts'
import { mapStyleOf, tileQuery, tileUrl } from '../../state/style.ts'
import { usePanel, useUrl } from '../../state/url.ts'
import { mayWrite, useWho } from '../../state/who.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { Inspector } from './inspector.tsx'
import { isGone, ItemNotFound } from './item-not-found.tsx'
import { LayerContent, LayerPanel } from './layer-panel.tsx'
import { TimeSeries } from './lazy-time-series.ts'
import { Legend } from './legend.tsx'
import { MapTools } from './map-tools.tsx'
import { tabOf, type Tab } from './tabs.ts'
import { frameShown } from './timelapse/frame-shown.ts'
import { UseIn } from './use-in.tsx'
import { ITEM_LAYER, useItemOnMap } from './use-item-on-map.ts'
import { useItemStyle, type ItemStyle } from './use-item-style.ts'
import { useLiveLook } from './use-live-look.ts'
import { usePointer } from './use-pointer.ts'
import { toolOf } from './use-tool.ts'
import { useZones } from './use-zones.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const POLL_MS = 5_000

export function Viewer(): ReactElement {
  const { item: id } = useParams({ from: '/inside/view/$item' })
  const item = useOp('items.get', { item_id: id })
  const assets = useOp('items.list_assets', { item_id: id }, { refetchInterval: POLL_MS })
  const project = useOp('projects.get', { project_id: item.data?.item.project_id ?? '' }, { enabled: item.data !== undefined })
  useTitle(
    { text: 'Library', to: '/library' },
    ...(project.data ? [{ text: project.data.name, to: `/library/${project.data.id}` }] : []),
    item.data?.item.name ?? 'Item',
  )
  if (isGone(item.error)) return <ItemNotFound />
  if (item.isError && !item.data) return <Failed error={item.error} retry={() => void item.refetch()} />
  if (!item.data || !assets.data) return <Skeleton rows={6} />
  return <ItemView key={id} item={item.data.item} assets={assets.data} project={project.data ?? null} />
}

function ItemView({ item, assets, project }: { item: Item; assets: readonly Asset[]; project: Project | null }): ReactElement {
  const who = useWho()
  const canWrite = mayWrite(who, project)
  const [url, setUrl] = useUrl()
  const mapClients = usePanel('use')
  const itemStyle = useItemStyle(item, assets)
  const { asset, assetKey, isReady, presets, style, drawnStyle, styleName, isDefaultStyle } = itemStyle
  const isPhone = useIsPhone()
  const [opacity, setOpacity] = useState(1)
  const [visible, setVisible] = useState(true)
  const [isSharing, setSharing] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const tab = tabOf(url['tab'], isPhone)
  const pointer = usePointer(tab === 'Pixel' && toolOf(url['tool']) === null)
  const below = (url['with'] ?? '').split(',').filter(Boolean)
  useCamera(url['map'], (map) => setUrl({ map }))
  const tiles = isReady && presets.length > 0 ? tileUrl(item.id, tileQuery(drawnStyle, assetKey)) : null
  const live = useLiveLook(item.id, drawnStyle, assetKey, tiles !== null && itemStyle.isAdjusting && tab === 'Style')
  const isCovered = frameShown.use()
  useItemOnMap(item, { tiles, live, opacity, visible, isCovered, below })
  const { failure } = useTileState(ITEM_LAYER, tiles)
  const layers = {
    item,
    assets,
    style,
    styleName,
    opacity,
    setOpacity,
    visible,
    setVisible,
    below,
    mayWrite: canWrite,
    onBelow: (ids: readonly string[]) => setUrl({ with: ids.join(',') || null }, true),
    onShare: () => setSharing(true),
    onSave: () => setSaving(true),
    onUse: () => mapClients.open('qgis'),
  }
  return (
    <div
      className={classes(
        workspaceStyles.workspace,
        workspaceStyles.viewer,
        workspaceStyles.withInspector,
        workspaceStyles.inspectorOnPhone,
      )}
    >
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        {item.name}
      </h1>
      {!isPhone && <LayerPanel {...layers} />}
      <MapSlot>
        <MapTools item={item} itemStyle={itemStyle} tab={tab} opacity={visible ? opacity : 0} />
        <MapOverlays item={item} itemStyle={itemStyle} tab={tab} failure={failure} />
      </MapSlot>
      <Inspector {...{ item, assets, itemStyle, tab, pointer }} mayWrite={canWrite} layers={isPhone && <LayerContent {...layers} />} />
      {url['use'] !== undefined && asset && (
        <UseIn
          item={item}
          use={url['use']}
          profile={isDefaultStyle ? null : style.id}
          onUse={(use) => setUrl({ use })}
          onClose={mapClients.close}
        />
      )}
      {isSaving && (
        <NewMap
          title="Save as map"
          projects={[{ id: item.project_id, name: project?.name ?? '' }]}
          content={{
            layers: [
              { item_id: item.id, opacity, visible, style: isDefaultStyle ? null : mapStyleOf(drawnStyle, assetKey) },
              ...below.toReversed().map((id) => ({ item_id: id })),
            ],
            camera: cameraNow(),
          }}
          onClose={() => setSaving(false)}
        />
      )}
      {isSharing && (
        <ShareDialog
          type="item"
          id={item.id}
          name={item.name}
          mayWrite={canWrite}
          shownStyle={isDefaultStyle ? null : { style: drawnStyle, assetKey }}
          onClose={() => setSharing(false)}
        />
      )}
    </div>
  )
}

interface OverlayParts {
  item: Item
  itemStyle: ItemStyle
  tab: Tab
  /** Why tiles cannot be rendered. */
  failure: string | null
}

/** What lies over the map: the legend, the time series, and a word while the file is being converted or if it cannot be shown. */
function MapOverlays({ item, itemStyle, tab, failure }: OverlayParts): ReactElement {
  const { asset, assetKey, isReady, style, drawnStyle, styleName, check } = itemStyle
  const [url] = useUrl()
  const [zones] = useZones()
  const isPhone = useIsPhone()
  const label = styleName ?? style.expression ?? 'Custom style'
  // The field of the expression says what is wrong; saying it twice would look like two problems.
  const isSaidBesideField = tab === 'Style' && style.kind === 'expression' && check.isError
  const hasSeries = tab === 'Statistics' && url['series'] === '1' && zones.length > 0 && !isPhone
  return (
    <>
      {isReady && drawnStyle.kind !== 'colour' && (
        <Legend
          itemId={item.id}
          style={drawnStyle}
          assetKey={assetKey}
          label={drawnStyle === style ? label : (drawnStyle.expression ?? label)}
        />
      )}
      {hasSeries && <TimeSeries item={item} assetKey={assetKey} style={style} />}
      {failure && !isSaidBesideField && (
        <MapFailure>
          {label}: {failure}
        </MapFailure>
      )}
      {asset?.state === 'converting' && <MapHint>Converting the file to COG. It appears here when it is ready.</MapHint>}
    </>
  )
}
