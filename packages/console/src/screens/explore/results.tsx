/** What was found: how much, from where, and one row for each scene. */
import { memo, type ReactElement } from 'react'
import { boxOf, boxPolygon, type Box } from '../../map/geo.ts'
import { onSharedMap } from '../../map/later.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { audOfCredits, count, dateShort, percent, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, LinkButton, Segmented } from '../../ui/kit.ts'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { useMore } from '../../ui/more.ts'
import { AreaBox } from './area-box.tsx'
import { toggleInCart, useCart } from '../../state/cart.ts'
import { FilterChips } from './filters.tsx'
import { creditsFor } from './inspector.tsx'
import { useEstimate } from '../../state/estimate.ts'
import type { Filters, SceneSearch, Sort } from './scenes.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './explore.module.css'
import fieldStyles from '../../ui/field.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const SORTS: readonly { value: Sort; text: string }[] = [
  { value: 'newest', text: 'Newest' },
  { value: 'clearest', text: 'Least cloud' },
  { value: 'covers', text: 'Most coverage' },
  { value: 'cheapest', text: 'Cheapest' },
]
const SAMPLE_AREAS: readonly { text: string; box: Box }[] = [
  { text: 'Port Pirie', box: [137.9, -33.28, 138.1, -33.1] },
  { text: 'Loire valley', box: [2.2, 48.1, 2.4, 48.25] },
  { text: 'Nile delta', box: [30.9, 30.9, 31.2, 31.15] },
]

interface ResultsParts {
  url: Readonly<Record<string, string>>
  setUrl(patch: Readonly<Record<string, string | null>>): void
  filters: Filters
  search: SceneSearch
  scenes: readonly Scene[]
  selected: Scene | null
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  setArea(area: GeoJSON.Polygon | null): void
  isMine: boolean
  hasPlace: boolean
  sort: Sort
  vendors: Parameters<typeof FilterChips>[0]['vendors']
}

export function Results(parts: ResultsParts): ReactElement {
  const { url, setUrl, filters, search, scenes, setArea, isMine, hasPlace, sort } = parts
  const cart = useCart()
  const estimate = useEstimate(cart, { keep: true })
  return (
    <section className={classes(workspaceStyles.panel, workspaceStyles.left)} aria-label="Search">
      <i className={workspaceStyles.sheetHandle} />
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap8)}>
        <div className={classes(ui.flexRow, ui.between)}>
          <Segmented
            label="Where to search"
            value={isMine ? 'mine' : 'catalogs'}
            onChange={(scope) => setUrl({ scope: scope === 'mine' ? 'mine' : null, sel: null })}
            options={[
              { value: 'catalogs', text: 'Catalogs' },
              { value: 'mine', text: 'My items' },
            ]}
          />
        </div>
        <AreaBox area={filters.area} onArea={setArea} onFit={() => void onSharedMap((shared) => shared.fit(boxOf(filters.area)))} />
        <FilterChips url={url} setUrl={setUrl} vendors={parts.vendors} withSources={!isMine} />
      </div>
      {hasPlace && (
        <div className={classes(ui.flexRow, ui.between, styles.resultsHeader)}>
          <span role="status" aria-live="polite">
            <b>{plural(scenes.length, 'scene')}</b>{' '}
            <span className={ui.soft}>
              {search.isLoading ? 'so far' : isMine ? 'of your own' : `from ${search.answered} of ${search.sourceCount} sources`}
            </span>
          </span>
          <label className={classes(ui.flexRow, ui.gap4)}>
            <span className={ui.screenReaderOnly}>Sort</span>
            <select
              className={fieldStyles.plainSelect}
              value={sort}
              onChange={(event) => setUrl({ sort: event.target.value === 'newest' ? null : event.target.value })}
            >
              {SORTS.map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <SourceFailures failures={search.failures} />
      <SceneList {...parts} />
      {cart.length > 0 && (
        <div className={styles.cartBar}>
          <span>
            <Icon name="cart" /> <b>{plural(cart.length, 'scene')}</b>{' '}
            <span className={ui.soft}>{estimate.data ? audOfCredits(estimate.data.total_credits) : 'being priced'}</span>
          </span>
          <LinkButton to="/orders/review" variant="primary">
            Review order
          </LinkButton>
        </div>
      )}
    </section>
  )
}

function SourceFailures({ failures }: { failures: SceneSearch['failures'] }): ReactElement | null {
  const [first] = failures
  if (!first) return null
  return (
    <div className={styles.sourceError} role="status" title={failures.map(({ title, message }) => `${title}: ${message}`).join('\n')}>
      <Icon name="warn" />
      <span className={classes(ui.grow, ui.small, ui.ellipsis)}>
        {failures.length === 1
          ? `${first.title} did not answer.`
          : `${failures.length} sources did not answer: ${failures.map(({ title }) => title).join(', ')}`}
      </span>
      <Button size="s" variant="quiet" onClick={() => failures.forEach(({ retry }) => retry())}>
        Retry
      </Button>
    </div>
  )
}

function SceneList(parts: ResultsParts): ReactElement {
  const { search, scenes, hasPlace } = parts
  if (!hasPlace) return <NoPlace setArea={parts.setArea} />
  if (scenes.length > 0) return <SceneRows {...parts} />
  return <div className={workspaceStyles.scroll}>{search.isLoading ? <Skeleton rows={7} /> : <NoScenes {...parts} />}</div>
}

function NoPlace({ setArea }: Pick<ResultsParts, 'setArea'>): ReactElement {
  const choose = (box: Box) => {
    setArea(boxPolygon(box))
    void onSharedMap((shared) => shared.fit(box))
  }
  return (
    <div className={workspaceStyles.scroll}>
      <Empty
        icon="poly"
        title="Draw or name an area"
        actions={SAMPLE_AREAS.map(({ text, box }) => (
          <Button key={text} size="s" onClick={() => choose(box)}>
            {text}
          </Button>
        ))}
      >
        Draw on the map, type coordinates, paste GeoJSON, or begin with one of these.
      </Empty>
    </div>
  )
}

function NoScenes({ filters, setUrl, isMine }: ResultsParts): ReactElement {
  const actions = (
    <>
      {filters.cloud !== null && filters.cloud < 100 && (
        <Button size="s" onClick={() => setUrl({ cloud: null })}>
          Allow any cloud
        </Button>
      )}
      {(filters.from || filters.to) && (
        <Button size="s" onClick={() => setUrl({ from: null, to: null })}>
          Any date
        </Button>
      )}
      {filters.gsd !== null && (
        <Button size="s" onClick={() => setUrl({ gsd: null })}>
          Any resolution
        </Button>
      )}
      {isMine && (
        <LinkButton size="s" to="/uploads">
          Upload
        </LinkButton>
      )}
    </>
  )
  return (
    <Empty title="No scenes match" actions={actions}>
      {isMine ? 'None of your items is here.' : 'Nothing over this area with these filters.'}
    </Empty>
  )
}

function SceneRows({ scenes, filters, selected, hovered, setHovered, pick }: ResultsParts): ReactElement {
  const cart = useCart()
  const chosen = new Set(cart.map(({ key }) => key))
  const { shown, end } = useMore(
    scenes.length,
    scenes.findIndex(({ key }) => key === selected?.key),
  )
  return (
    <ul className={workspaceStyles.scroll} aria-label="Scenes">
      {scenes.slice(0, shown).map((scene) => (
        <SceneRow
          key={scene.key}
          scene={scene}
          area={filters.area}
          isSelected={scene.key === selected?.key}
          isHovered={scene.key === hovered}
          isInCart={chosen.has(scene.key)}
          onHover={setHovered}
          onPick={pick}
        />
      ))}
      {shown < scenes.length && <li ref={end} aria-hidden="true" />}
    </ul>
  )
}

interface RowParts {
  scene: Scene
  area: GeoJSON.Polygon | null
  isSelected: boolean
  isHovered: boolean
  isInCart: boolean
  onHover(key: string | null): void
  onPick(scene: Scene): void
}

const SceneRow = memo(function SceneRow({ scene, area, isSelected, isHovered, isInCart, onHover, onPick }: RowParts): ReactElement {
  const credits = creditsFor(scene, area)
  const when = dateShort(scene.datetime)
  return (
    <li
      className={classes(styles.scene, isSelected ? styles.selected : '', isHovered ? styles.hovered : '')}
      onMouseEnter={() => onHover(scene.key)}
      onMouseLeave={() => onHover(null)}
    >
      <div className={styles.thumbnail}>
        <AuthImage path={scene.thumbnail} alt="" />
        {credits !== null && (
          <input
            type="checkbox"
            className={listStyles.checkOverlay}
            checked={isInCart}
            aria-label={`Order ${scene.source} of ${when}`}
            onChange={() => toggleInCart(scene, area)}
          />
        )}
      </div>
      <button
        type="button"
        className={classes(styles.title, ui.asText, ui.ellipsis)}
        onClick={() => onPick(scene)}
        aria-current={isSelected || undefined}
      >
        {scene.source} <span className={ui.soft}>{scene.gsd === null ? '' : `${scene.gsd} m`}</span>
      </button>
      <span className={classes(styles.price, ui.numeric)}>
        {scene.kind === 'item' ? '' : credits === null ? 'Free' : audOfCredits(credits)}
      </span>
      <div className={styles.facts}>
        <span>{when}</span>
        {scene.cloud !== null && (
          <span className={styles.cloud} style={{ '--v': scene.cloud }}>
            {percent(Math.round(scene.cloud))}
          </span>
        )}
        {scene.covered !== null && <span className={ui.ellipsis}>{percent(Math.round(scene.covered * 100))} of area</span>}
      </div>
      <span className={styles.unitPrice}>
        {scene.kind === 'item' ? '' : scene.creditsPerKm2 === null ? 'open data' : `${count(scene.creditsPerKm2)} cr/km²`}
      </span>
    </li>
  )
})
