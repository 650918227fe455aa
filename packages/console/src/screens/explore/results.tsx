/** The panel beside the map: where to search, the filters, the scenes, and the cart. */
import type { ReactElement } from 'react'
import type { CatalogSource, CatalogVendor } from '../../api/contract.ts'
import { boxOf, type AreaShape } from '../../map/geo.ts'
import { withSharedMap } from '../../map/lazy-map.ts'
import { useCart } from '../../state/cart.ts'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import { chosenText, useEstimate } from '../../state/estimate.ts'
import { count, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { useIsPhone } from '../../ui/is-phone.ts'
import { Button, LinkButton, Segmented } from '../../ui/kit.ts'
import { CartCoverage } from './cart-coverage.tsx'
import { AreaBox } from './area-box.tsx'
import { FilterChips } from './filters.tsx'
import { SavedSearches } from './saved-searches.tsx'
import { SceneList, type SceneListParts } from './scene-list.tsx'
import type { Filters, Sort } from './scenes.ts'
import { isUnreachable, outageText } from './source-status.ts'
import type { AreaTool } from './use-area.ts'
import type { SceneSearch } from './use-scenes.ts'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './results.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const SORTS: readonly { value: Sort; text: string }[] = [
  { value: 'newest', text: 'Newest' },
  { value: 'clearest', text: 'Least cloud' },
  { value: 'covers', text: 'Most coverage' },
  { value: 'cheapest', text: 'Cheapest' },
]

interface ResultsParts extends Omit<SceneListParts, 'isLoading'> {
  url: Readonly<Record<string, string>>
  search: SceneSearch
  sort: Sort
  areaTool: AreaTool
  vendors: readonly CatalogVendor[]
  sources: readonly CatalogSource[]
}

export function Results(parts: ResultsParts): ReactElement {
  const { url, setUrl, filters, search, setArea, areaTool, isMine, hasPlace, vendors, sources } = parts
  const isPhone = useIsPhone()
  const saved = !isMine && <SavedSearches {...{ filters, sources, url, setUrl }} area={hasPlace ? filters.area : null} />
  return (
    <section className={classes(workspaceStyles.panel, workspaceStyles.left)} aria-label="Search">
      <i className={workspaceStyles.sheetHandle} />
      <div className={classes(workspaceStyles.section, ui.flexColumn, ui.gap8)}>
        <div className={classes(ui.flexRow, ui.between)}>
          <Segmented
            label="Search in"
            value={isMine ? 'mine' : 'catalogs'}
            onChange={(scope) => setUrl({ scope: scope === 'mine' ? 'mine' : null, sel: null }, true)}
            options={[
              { value: 'catalogs', text: 'Catalogs' },
              { value: 'mine', text: 'My items' },
            ]}
          />
        </div>
        <AreaBox
          area={filters.area}
          onArea={(area) => (area && areaTool.isAdding ? areaTool.takeArea(area) : setArea(area))}
          onPolygons={areaTool.takePolygons}
          onFit={() => void withSharedMap((shared) => shared.fit(boxOf(filters.area)))}
          isAdding={areaTool.isAdding}
          setAdding={areaTool.setAdding}
          onEdit={() => areaTool.setEditing(true)}
        >
          {isPhone && saved}
        </AreaBox>
        <FilterChips url={url} setUrl={setUrl} vendors={vendors} sources={sources} withSources={!isMine} hasArea={filters.area !== null} />
      </div>
      {saved && !isPhone && <div className={classes(workspaceStyles.section, styles.saved)}>{saved}</div>}
      {hasPlace && <ResultsHeader {...parts} />}
      <SourceFailures failures={search.failures} sources={isMine || !hasPlace ? [] : searchedSources(sources, filters)} />
      <SceneList {...parts} isLoading={search.isLoading} />
      <CartBar area={hasPlace ? filters.area : null} />
    </section>
  )
}

type HeaderParts = Pick<ResultsParts, 'scenes' | 'hiddenCount' | 'search' | 'isMine' | 'sort' | 'setUrl'>

function ResultsHeader({ scenes, hiddenCount, search, isMine, sort, setUrl }: HeaderParts): ReactElement {
  const { isLoading, answered, sourceCount } = search
  return (
    <div className={classes(ui.flexRow, ui.between, styles.header)}>
      <span role="status" aria-live="polite">
        <b>{plural(scenes.length, 'scene')}</b>{' '}
        <span className={ui.soft}>
          {isLoading ? 'so far' : isMine ? 'in your library' : `from ${answered} of ${plural(sourceCount, 'source')}`}
          {hiddenCount > 0 && `, ${count(hiddenCount)} hidden`}
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
  )
}

const searchedSources = (sources: readonly CatalogSource[], { sources: chosen }: Filters) =>
  sources.filter(({ host_name }) => chosen === null || chosen.includes(host_name))

interface FailureParts {
  failures: SceneSearch['failures']
  /** Those that were searched. */
  sources: readonly CatalogSource[]
}

/** One line: sources that are known to be unreachable, or else those that did not respond to this search. */
function SourceFailures({ failures, sources }: FailureParts): ReactElement | null {
  const outage = outageText(sources, new Date())
  const lost = new Set(sources.filter(isUnreachable).map(({ host_name }) => host_name))
  const others = failures.filter(({ host }) => !lost.has(host))
  const text = [outage, others.length > 0 ? `${others.map(({ title }) => title).join(', ')} did not respond` : null].filter(Boolean)
  if (text.length === 0) return null
  const why = [
    ...sources.filter(isUnreachable).map(({ title, status_error }) => `${title}: ${status_error ?? 'unknown reason'}`),
    ...others.map(({ title, message }) => `${title}: ${message}`),
  ]
  return (
    <div className={styles.failures} role="status" title={why.join('\n')}>
      <Icon name="warn" />
      <span className={classes(ui.grow, ui.small)}>{text.join('. ')}.</span>
      {failures.length > 0 && (
        <Button size="s" variant="quiet" onClick={() => failures.forEach(({ retry }) => retry())}>
          Retry
        </Button>
      )}
    </div>
  )
}

function CartBar({ area }: { area: AreaShape | null }): ReactElement | null {
  const cart = useCart()
  const estimate = useEstimate(cart, { keep: true })
  if (cart.length === 0) return null
  return (
    <div className={styles.cart}>
      <CartCoverage area={area} />
      <span>
        <Icon name="cart" /> <b>{plural(cart.length, 'scene')}</b>{' '}
        <span className={ui.soft}>{estimate.data ? chosenText(estimate.data) : 'Calculating price'}</span>{' '}
        {cart.some((scene) => scene.isSimulated) && <SimulatedBadge />}
      </span>
      <LinkButton to="/orders/review" variant="primary">
        Review order
      </LinkButton>
    </div>
  )
}
