/** Look, style, measure one item, alone or with others of its project. */
import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import type { Asset, Item, Project } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { MapSlot, useCamera } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import type { Box } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useWho } from '../../state/who.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { date, dateTime, metres, percent, value } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Facts, LinkButton, State } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { Downloads } from '../../parts/downloads.tsx'
import { lookFromUrl, parseRange, tileQuery, tilesOf, usePresets, useRange, type Look } from '../../state/style.ts'
import { MetadataTab } from './metadata-tab.tsx'
import { PixelTab, usePointer } from './pixel-tab.tsx'
import { StatisticsTab } from './statistics-tab.tsx'
import { UseIn } from './use-in.tsx'
import { useZones } from './zones.ts'
import { rampOf, StyleTab, useColormaps } from './style-tab.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { TimeSeries } from './later.ts'
import { useIsPhone } from '../../ui/is-phone.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import areaToolsStyles from '../../parts/areas/area-tools.module.css'
import filmstripStyles from '../../parts/filmstrip.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './viewer.module.css'
import buttonStyles from '../../ui/button.module.css'
import ui from '../../ui/ui.module.css'

const TABS = ['Style', 'Pixel', 'Statistics', 'Metadata'] as const
type Tab = (typeof TABS)[number]

const isRaster = ({ media_type, roles }: Asset) => (media_type ?? '').includes('tiff') && !roles.includes('thumbnail')

export function Viewer(): ReactElement {
  const { item: id } = useParams({ from: '/inside/view/$item' })
  const itemQuery = useOp('items.get', { item_id: id })
  const assets = useOp('items.list_assets', { item_id: id }, { refetchInterval: 5_000 })
  const project = useOp('projects.get', { project_id: itemQuery.data?.item.project_id ?? '' }, { enabled: itemQuery.data !== undefined })
  useTitle(
    { text: project.data?.name ?? 'Library', to: project.data ? `/library/${project.data.id}` : '/library' },
    itemQuery.data?.item.name ?? 'Item',
  )
  if (itemQuery.isError && !itemQuery.data) return <Failed error={itemQuery.error} retry={() => void itemQuery.refetch()} />
  if (!itemQuery.data || !assets.data) return <Skeleton rows={6} />
  return <ItemView key={id} item={itemQuery.data.item} assets={assets.data} project={project.data ?? null} />
}

function ItemView({ item, assets, project }: { item: Item; assets: readonly Asset[]; project: Project | null }): ReactElement {
  const who = useWho()
  const [url, setUrl] = useUrl()
  const rasters = assets.filter(isRaster)
  const asset = rasters.find(({ key }) => key === url['asset']) ?? rasters[0] ?? null
  const isReady = asset?.state === 'ready'
  const { bands, presets, initial } = usePresets(item.id, isReady ? asset : null)
  const look = useMemo(() => lookFromUrl(url, presets, initial), [url, presets, initial])
  const assetKey = rasters.length > 1 ? (asset?.key ?? null) : null
  const [opacity, setOpacity] = useState(1)
  const [visible, setVisible] = useState(true)
  const [share, setShare] = useState(false)
  const tab = (TABS.find((name) => name.toLowerCase() === url['tab']) ?? 'Style') as Tab
  const pointer = usePointer(tab === 'Pixel')
  const others = (url['with'] ?? '').split(',').filter(Boolean)
  useCamera(url['map'], (map) => setUrl({ map }))
  useItemOnMap(item, isReady && presets.length > 0 ? tilesOf(item.id, tileQuery(look, assetKey)) : null, { opacity, visible, others })
  const onLook = (next: Partial<Look> & { preset?: string }) => {
    if (next.preset !== undefined) return setUrl({ look: next.preset, expr: null, bands: null, cmap: null, range: null })
    const patch = next.expression ? { expr: next.expression, bands: null } : { bands: next.bands?.join(',') ?? null, expr: null }
    setUrl({ look: null, ...patch, cmap: next.colormap ?? look.colormap, range: next.rescale ?? null })
  }
  const canWrite = mayWrite(who, project)
  const [zones] = useZones()
  const isPhone = useIsPhone()
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
      <LayerPanel
        {...{ item, look, opacity, setOpacity, visible, setVisible, others, canWrite }}
        onOthers={(ids) => setUrl({ with: ids.join(',') || null })}
        onShare={() => setShare(true)}
        onUse={() => setUrl({ use: 'qgis' })}
        assets={assets}
        label={presets.find(({ id }) => id === look.id)?.label ?? null}
      />
      <MapSlot>
        {isReady && look.kind !== 'colour' && (
          <Legend itemId={item.id} look={look} assetKey={assetKey} label={presets.find(({ id }) => id === look.id)?.label ?? 'Own'} />
        )}
        {tab === 'Statistics' && url['series'] === '1' && zones.length > 0 && !isPhone && (
          <TimeSeries item={item} assetKey={assetKey} look={look} />
        )}
        {asset?.state === 'converting' && (
          <p className={classes(mapSlotStyles.floating, areaToolsStyles.hint)} role="status">
            The file is being prepared. It appears here by itself.
          </p>
        )}
      </MapSlot>
      <aside className={classes(workspaceStyles.panel, workspaceStyles.right, workspaceStyles.onPhone)} aria-label="Look and values">
        <i className={workspaceStyles.sheetHandle} />
        <div className={classes(styles.tabs, styles.inspectorTabs)} role="tablist" aria-label="Inspector">
          {TABS.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-controls="tab-panel"
              aria-selected={name === tab}
              className={name === tab ? styles.selected : ''}
              onClick={() => setUrl({ tab: name === 'Style' ? null : name.toLowerCase() })}
            >
              {name}
            </button>
          ))}
        </div>
        <div className={workspaceStyles.scroll} role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
          {!asset && tab !== 'Metadata' ? (
            <Empty
              icon="image"
              title="No raster"
              actions={
                canWrite ? (
                  <LinkButton to="/uploads" search={{ item: item.id, project: item.project_id }}>
                    Attach a file
                  </LinkButton>
                ) : null
              }
            >
              This item has no raster. Its facts are under Metadata.
            </Empty>
          ) : (
            <>
              {tab === 'Style' &&
                (isReady ? (
                  <StyleTab {...{ bands, presets, look, onLook, assetKey }} itemId={item.id} mayWrite={canWrite} />
                ) : (
                  <Skeleton />
                ))}
              {tab === 'Pixel' && <PixelTab itemId={item.id} assetKey={assetKey} look={look} pointer={pointer} />}
              {tab === 'Statistics' && <StatisticsTab item={item} assetKey={assetKey} look={look} />}
              {tab === 'Metadata' && <MetadataTab item={item} assets={assets} mayWrite={canWrite} onUse={() => setUrl({ use: 'qgis' })} />}
            </>
          )}
        </div>
      </aside>
      {url['use'] !== undefined && asset && (
        <UseIn item={item} use={url['use']} profile={look.id === initial?.id ? null : look.id} onUse={(use) => setUrl({ use })} />
      )}
      {share && <ShareDialog type="item" id={item.id} name={item.name} mayWrite={canWrite} onClose={() => setShare(false)} />}
    </div>
  )
}

interface OnMap {
  opacity: number
  visible: boolean
  others: readonly string[]
}

function useItemOnMap(item: Item, tiles: string | null, { opacity, visible, others }: OnMap): void {
  useEffect(() => {
    sharedMap().setFootprints([{ id: item.id, geometry: item.geometry }])
    if (!new URLSearchParams(location.search).has('map')) sharedMap().fit(item.bbox as Box | null, { animate: false })
  }, [item])
  const beside = others.join()
  useEffect(() => {
    sharedMap().setRasters([
      ...beside
        .split(',')
        .filter(Boolean)
        .map((id) => ({ id: `item-${id}`, tiles: tilesOf(id, '') })),
      ...(tiles ? [{ id: 'item', tiles, opacity, visible, ...(item.bbox ? { bounds: item.bbox as Box } : {}) }] : []),
    ])
  }, [tiles, opacity, visible, beside, item.bbox])
}

interface LayerParts {
  item: Item
  assets: readonly Asset[]
  look: Look
  label: string | null
  opacity: number
  setOpacity(opacity: number): void
  visible: boolean
  setVisible(visible: boolean): void
  others: readonly string[]
  onOthers(ids: readonly string[]): void
  onShare(): void
  onUse(): void
  canWrite: boolean
}

function LayerPanel(parts: LayerParts): ReactElement {
  const { item, assets, look, label, opacity, setOpacity, visible, setVisible, others, onOthers, onShare, onUse, canWrite } = parts
  const siblings = useOp(
    'items.list_by_collection',
    { collection_id: item.collection_id ?? '', limit: 24 },
    { enabled: item.collection_id !== null },
  )
  const list = (siblings.data?.items ?? []).filter(({ id }) => id !== item.id)
  const what = look.expression ? 'expression' : look.bands ? `bands ${look.bands.join(' ')}` : 'own look'
  return (
    <section className={classes(workspaceStyles.panel, workspaceStyles.left, ui.hideOnPhone)} aria-label="Layers">
      <div className={workspaceStyles.scroll}>
        <div className={classes(workspaceStyles.section, ui.flexRow, ui.between)}>
          <h2 className={ui.panelTitle}>Layers</h2>
        </div>
        <div className={classes(styles.layer, styles.selected)}>
          <Button
            variant="quiet"
            size="s"
            icon={visible ? 'eye' : 'min'}
            label={visible ? 'Hide this layer' : 'Show this layer'}
            onClick={() => setVisible(!visible)}
          />
          <span className={ui.grow}>
            <b>{label ?? (look.kind === 'expression' ? 'Expression' : 'Bands')}</b>
            <br />
            <span className={classes(ui.soft, ui.small)}>
              {date(item.datetime)}, {what}
            </span>
          </span>
          <span className={classes(ui.soft, ui.small, ui.numeric)}>{Math.round(opacity * 100)}%</span>
        </div>
        {others.map((id) => (
          <div key={id} className={styles.layer}>
            <Button
              variant="quiet"
              size="s"
              icon="x"
              label="Remove layer"
              onClick={() => onOthers(others.filter((other) => other !== id))}
            />
            <span className={classes(ui.grow, ui.ellipsis)}>
              <b>{list.find((candidate) => candidate.id === id)?.name ?? id}</b>
              <br />
              <span className={classes(ui.soft, ui.small)}>below, its own look</span>
            </span>
          </div>
        ))}
        <div className={styles.layer}>
          <span className={classes(buttonStyles.button, buttonStyles.quiet, buttonStyles.iconOnly, buttonStyles.small)} aria-hidden="true">
            <Icon name="globe" />
          </span>
          <span className={ui.grow}>
            <b>Land and borders</b>
            <br />
            <span className={classes(ui.soft, ui.small)}>Base map, from this service</span>
          </span>
        </div>
        <div className={workspaceStyles.section}>
          <label className={classes(ui.flexRow, ui.between)}>
            <b className={ui.small}>Opacity</b>
            <span className={classes(ui.soft, ui.numeric)}>{Math.round(opacity * 100)}%</span>
          </label>
          <input
            type="range"
            aria-label="Opacity"
            min={0}
            max={1}
            step={0.01}
            value={opacity}
            onChange={(event) => setOpacity(Number(event.target.value))}
          />
        </div>
        <Siblings item={item} list={list} others={others} onOthers={onOthers} />
        <div className={workspaceStyles.section}>
          <h3>Item</h3>
          <Facts
            rows={[
              ['Acquired', dateTime(item.datetime)],
              ['Pixel', metres(item.gsd)],
              ['Cloud', percent(item.cloud_cover)],
              ['Kind', item.type.replaceAll('_', ' ')],
              ['State', <State key="state" of={item.lifecycle_state} />],
            ]}
          />
          <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
            {canWrite && (
              <Button size="s" icon="share" onClick={onShare}>
                Share
              </Button>
            )}
            <Downloads itemId={item.id} assets={assets} />
            <Button size="s" icon="code" onClick={onUse}>
              Use in…
            </Button>
            <LinkButton size="s" icon="flow" to="/lineage/$type/$id" params={{ type: 'item', id: item.id }}>
              Lineage
            </LinkButton>
            <LinkButton size="s" icon="down" to="/reports" search={{ about: 'item', project: item.project_id, item: item.id }}>
              Report
            </LinkButton>
            <LinkButton size="s" icon="swipe" to="/compare" search={{ a: item.id }}>
              Compare
            </LinkButton>
          </div>
        </div>
      </div>
    </section>
  )
}

interface SiblingParts {
  item: Item
  list: readonly Item[]
  others: readonly string[]
  onOthers(ids: readonly string[]): void
}

/** Other dates of the collection: to open, to compare, to lay below. */
function Siblings({ item, list, others, onOthers }: SiblingParts): ReactElement | null {
  if (list.length === 0) return null
  return (
    <div className={workspaceStyles.section}>
      <h3>
        <span className={ui.grow}>In this collection</span>
        <Link to="/compare" search={{ a: item.id, b: list[0]!.id }}>
          Compare
        </Link>
      </h3>
      <div className={filmstripStyles.filmstrip}>
        {list.slice(0, 8).map((other) => (
          <Link
            key={other.id}
            to="/view/$item"
            params={{ item: other.id }}
            className={filmstripStyles.frame}
            aria-label={`${other.datetime?.slice(0, 10) ?? other.name}, ${other.name}`}
          >
            <AuthImage path={tileOf(`/api/v1/items/${encodeURIComponent(other.id)}`, other.bbox)} alt="" />
            <span aria-hidden="true">{other.datetime?.slice(0, 10) ?? other.name}</span>
          </Link>
        ))}
      </div>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop8)}>
        {list
          .slice(0, 4)
          .filter(({ id }) => !others.includes(id))
          .map((other) => (
            <Button key={other.id} size="s" icon="plus" onClick={() => onOthers([...others, other.id])}>
              {other.datetime?.slice(0, 10) ?? other.name.slice(0, 12)} below
            </Button>
          ))}
      </div>
    </div>
  )
}

function Legend({
  itemId,
  look,
  assetKey,
  label,
}: {
  itemId: string
  look: Look
  assetKey: string | null
  label: string
}): ReactElement | null {
  const ranges = useRange(itemId, look, assetKey, true)
  const maps = useColormaps()
  const range = parseRange(look.rescale) ?? (ranges.data ? [ranges.data.p2 ?? 0, ranges.data.p98 ?? 1] : null)
  if (!range) return null
  return (
    <div className={classes(mapSlotStyles.floating, styles.legend)}>
      <div className={classes(ui.flexRow, ui.between)}>
        <b className={ui.ellipsis}>{label}</b>
        <span className={classes(ui.soft, ui.small)}>{look.colormap}</span>
      </div>
      <div className={styles.ramp} style={{ background: rampOf(maps.find(({ id }) => id === look.colormap)) }} />
      <div className={classes(ui.flexRow, ui.between, ui.soft, ui.small, ui.numeric)}>
        <span>{value(range[0])}</span>
        <span>{value((range[0]! + range[1]!) / 2)}</span>
        <span>{value(range[1])}</span>
      </div>
    </div>
  )
}
