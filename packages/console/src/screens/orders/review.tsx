/** The chosen scenes with their exact price, who pays, and what may be in the way; then the order. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { areaOf, boxOf, cornersOf, encodeArea, polygonsOf, type AreaShape } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { AuthImage, pictureOf } from '../../ui/auth-image.tsx'
import { area as areaText, audOfCredits, count, dateTime, metres, percent, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, Choice, Facts, Field, LinkButton, Note, Page, Toggle } from '../../ui/kit.ts'
import { Empty, Failed, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import { captureOf, clearCart, removeFromCart, useCart, type ChosenScene } from '../../state/cart.ts'
import { totalText, useEstimate } from '../../state/estimate.ts'
import { CardMap } from '../../parts/areas/card-map.tsx'
import { LicenceRows, SpendRefusal, useLicences, useSpend, useSpendKey } from '../../parts/orders/spend.tsx'
import { DraftButtons, DraftChanges } from '../../parts/orders/drafts.tsx'
import { openedDraft } from '../../state/quote.ts'
import { Caps, Payment } from '../../parts/orders/total.tsx'
import { classes } from '../../ui/classes.ts'
import cardMapStyles from '../../parts/areas/card-map.module.css'
import totalStyles from '../../parts/orders/total.module.css'
import styles from './orders.module.css'
import cardStyles from '../../ui/card.module.css'
import fieldStyles from '../../ui/field.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

type Estimate = Output<'orders.archive.estimate'>
type Group = Estimate['groups'][number]

export function ReviewOrder(): ReactElement {
  const cart = useCart()
  useTitle({ text: 'Orders', to: '/orders' }, 'Review order')
  if (cart.length === 0)
    return (
      <Page title="Review order">
        <Empty
          icon="cart"
          title="Your cart is empty"
          actions={
            <>
              <LinkButton to="/explore" variant="primary">
                Search scenes
              </LinkButton>
              <LinkButton to="/orders">Your orders</LinkButton>
              <DraftButtons cart={cart} />
            </>
          }
        >
          Select scenes on the map or in the results to add them.
        </Empty>
      </Page>
    )
  return <Review cart={cart} />
}

function Review({ cart }: { cart: readonly ChosenScene[] }): ReactElement {
  const [url, setUrl] = useUrl()
  const splitByDate = url['split'] === '1'
  const estimate = useEstimate(cart, { splitByDate, keep: true })
  return (
    <Page
      title="Review order"
      about="Nothing is reserved yet. The price shown is the price you pay."
      actions={
        <>
          <DraftButtons cart={cart} />
          <Button onClick={clearCart}>Clear cart</Button>
          <LinkButton to="/explore">Keep for later</LinkButton>
        </>
      }
    >
      <DraftChanges />
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Card
            title="Scenes"
            aside={
              <label className={classes(ui.flexRow, ui.gap6, ui.small, ui.soft)}>
                Split by date
                <Toggle label="Split by date" on={splitByDate} onChange={(on) => setUrl({ split: on ? '1' : null })} />
              </label>
            }
            flush
          >
            {estimate.data ? (
              <Priced cart={cart} estimate={estimate.data} isFetching={estimate.isFetching} />
            ) : estimate.isError ? (
              <Failed error={estimate.error} retry={() => void estimate.refetch()} />
            ) : (
              <div className={cardStyles.body}>
                <Skeleton rows={cart.length} />
              </div>
            )}
          </Card>
          <Delivery cart={cart} />
        </div>
        <TotalCard cart={cart} estimate={estimate.data ?? null} isFetching={estimate.isFetching} splitByDate={splitByDate} />
      </div>
    </Page>
  )
}

function Priced({ cart, estimate, isFetching }: { cart: readonly ChosenScene[]; estimate: Estimate; isFetching: boolean }): ReactElement {
  const sceneOf = (id: string, host: string | null | undefined) => cart.find((scene) => scene.id === id && scene.host === host)
  const refused = estimate.errors.flatMap(({ id, host, reason }) => {
    const scene = id === null ? undefined : sceneOf(id, host)
    return scene ? [{ scene, reason }] : []
  })
  return (
    <div aria-busy={isFetching}>
      {estimate.groups.map((group, index) => (
        <div key={index}>
          <GroupHead group={group} />
          <ul>
            {group.captures.map(({ id, host }) => {
              const scene = sceneOf(id, host)
              return scene && <SceneLine key={scene.key} scene={scene} group={group} />
            })}
          </ul>
        </div>
      ))}
      {refused.length > 0 && (
        <ul>
          {refused.map(({ scene, reason }) => (
            <SceneLine key={scene.key} scene={scene} reason={reason} />
          ))}
        </ul>
      )}
    </div>
  )
}

const GroupHead = ({ group }: { group: Group }) => (
  <div className={styles.group}>
    <b>{group.host}</b>
    <span className={classes(ui.soft, ui.ellipsis)}>
      {plural(group.captures.length, 'capture')}, {group.dataProduct}
    </span>
    <span className={ui.grow} />
    <span className={classes(ui.numeric, ui.soft)}>{areaText(group.aoi_km2 * 1e6)}</span>
  </div>
)

function SceneLine({ scene, group, reason }: { scene: ChosenScene; group?: Group; reason?: string }): ReactElement {
  const isWhole = group?.captures.length === 1
  return (
    <li className={styles.sceneLine}>
      <span className={listStyles.thumbnail}>
        <AuthImage path={scene.thumbnail} alt="" />
      </span>
      <div className={ui.grow}>
        <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
          <b className={ui.ellipsis}>
            {scene.source} {scene.gsd === null ? '' : metres(scene.gsd)}
          </b>
          {scene.isSimulated && <SimulatedBadge />}
          {reason && <Badge tone="warn">Cannot be priced</Badge>}
        </div>
        <div className={classes(ui.soft, ui.small)}>
          {dateTime(scene.datetime)}, {percent(scene.cloud)} cloud
        </div>
        <div className={classes(ui.mono, ui.faint, ui.tiny, ui.ellipsis)}>{scene.id}</div>
        {reason && (
          <p className={classes(ui.warning, ui.small, ui.marginTop4)}>
            {reason}. It is not part of the total.{' '}
            <button type="button" className={ui.asLink} onClick={() => removeFromCart(scene.key)}>
              Remove the scene
            </button>{' '}
            to place the order.
          </p>
        )}
      </div>
      <div className={classes(ui.alignEnd, ui.noWrap, ui.numeric, styles.priceColumn)}>
        {isWhole && (
          <>
            <b>{audOfCredits(group.credits)}</b>
            <div className={classes(ui.soft, ui.small)}>{count(group.credits)} cr</div>
          </>
        )}
      </div>
      <Button
        variant="quiet"
        icon="x"
        size="s"
        label={`Remove ${scene.source} of ${dateTime(scene.datetime)}`}
        onClick={() => removeFromCart(scene.key)}
      />
    </li>
  )
}

function Delivery({ cart }: { cart: readonly ChosenScene[] }): ReactElement {
  const [url, setUrl] = useUrl()
  const who = useWho()
  const projects = useProjects()
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const areas = useMemo(() => [...new Map(cart.flatMap(({ area }) => (area ? [[encodeArea(area), area] as const] : []))).values()], [cart])
  const shapes = useMemo(() => cart.map(({ key, geometry }) => ({ id: key, geometry })), [cart])
  const pictures = usePictures(cart)
  const [first] = areas
  return (
    <Card
      title="Area and delivery"
      aside={
        first && (
          <LinkButton size="s" variant="quiet" to="/explore" search={{ aoi: encodeArea(first) }}>
            Edit on the map
          </LinkButton>
        )
      }
    >
      <div className={classes(ui.flexRow, ui.gap16, ui.alignTop, ui.wrap)}>
        <CardMap
          className={cardMapStyles.small}
          label="Order areas"
          area={areas.length === 0 ? null : { type: 'MultiPolygon', coordinates: areas.flatMap((area) => polygonsOf(area)) }}
          pictures={pictures}
          shapes={areas.length === 0 ? shapes : shapes.filter(({ geometry }) => touches(geometry, areas))}
        />
        <div className={classes(ui.grow, ui.flexColumn, ui.gap12, styles.delivery)}>
          <Choice
            label="Project"
            value={url['project'] ?? writable[0]?.id ?? ''}
            onChange={(event) => setUrl({ project: event.target.value })}
            options={writable.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <Field
            label="Order name"
            placeholder="Defaults to the first scene's name"
            maxLength={255}
            defaultValue={url['name'] ?? ''}
            onBlur={(event) => setUrl({ name: event.target.value || null })}
          />
          <Facts
            rows={[
              ['Area', areas.length === 0 ? 'whole scenes' : `${areaText(areas.reduce((sum, area) => sum + areaOf(area), 0))} of area`],
              ['Delivered as', `${plural(cart.length, 'item')} in the library, as COG`],
            ]}
          />
        </div>
      </div>
    </Card>
  )
}

const MAX_PICTURES = 4

/** The pictures of the list where they belong on the map. */
function usePictures(cart: readonly ChosenScene[]) {
  const [pictures, setPictures] = useState<{ id: string; url: string; corners: NonNullable<ReturnType<typeof cornersOf>> }[]>([])
  useEffect(() => {
    let isStopped = false
    const wanted = cart.slice(0, MAX_PICTURES).flatMap((scene) => {
      const [path, corners] = [scene.thumbnail ?? scene.quicklook, cornersOf(scene.geometry)]
      return path && corners ? [{ id: scene.key, path, corners }] : []
    })
    void Promise.allSettled(wanted.map(async ({ id, path, corners }) => ({ id, corners, url: await pictureOf(path) }))).then((results) => {
      if (!isStopped) setPictures(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])))
    })
    return () => {
      isStopped = true
    }
  }, [cart])
  return pictures
}

/** Footprints that are far larger than the area would make it a dot: those are left out of the picture. */
function touches(geometry: GeoJSON.Geometry | null, areas: readonly AreaShape[]): boolean {
  const largest = Math.max(...areas.map((area) => areaOf(area)))
  return boxOf(geometry) !== null && areaOf(geometry) < largest * 40
}

interface TotalParts {
  cart: readonly ChosenScene[]
  estimate: Estimate | null
  isFetching: boolean
  splitByDate: boolean
}

function TotalCard({ cart, estimate, isFetching, splitByDate }: TotalParts): ReactElement {
  const [url] = useUrl()
  const who = useWho()
  const navigate = useNavigate()
  const projects = useProjects()
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const projectId = writable.find(({ id }) => id === url['project'])?.id ?? writable[0]?.id ?? ''
  const products = (estimate?.groups ?? []).map(({ dataProduct }) => dataProduct)
  const { open } = useLicences(products)
  const input = {
    projectId,
    captures: cart.map(captureOf),
    licenseType: 'standard',
    splitByDate,
    ...(url['name'] ? { displayName: url['name'] } : {}),
    ...(estimate ? { maxCredits: estimate.total_credits } : {}),
  }
  const spend = useSpend('orders.archive.place', input, (order) => {
    clearCart()
    openedDraft.set(null)
    toast('Order placed')
    void navigate({ to: '/orders/$id', params: { id: order.id } })
  })
  const total = estimate?.total_credits ?? 0
  const missing = missingStep({
    estimate,
    hasProject: projectId !== '',
    isLoading: projects.isPending,
    openLicences: open.length,
  })
  const isReady = missing === null && !isFetching && !spend.busy
  useSpendKey(isReady, spend.run)
  return (
    <aside className={classes(cardStyles.card, ui.sticky, styles.totalCard)} aria-label="Total">
      <div className={cardStyles.header}>
        <h2>Total</h2>
      </div>
      <div className={cardStyles.body}>
        <Facts
          rows={(estimate?.groups ?? []).map((group) => [
            `${group.host}, ${areaText(group.aoi_km2 * 1e6)}`,
            <span className={ui.numeric}>{audOfCredits(group.credits)}</span>,
          ])}
        />
        <div className={totalStyles.total}>
          <span>Total</span>
          <b className={ui.numeric}>{estimate ? totalText(estimate) : '…'}</b>
        </div>
        <div className={classes(ui.alignEnd, ui.soft, ui.small, ui.numeric)}>
          {estimate ? (total > 0 ? `${count(total)} credits, excluding GST` : '') : 'calculating price…'}
        </div>
        <Payment credits={total} />
        <Caps credits={total} />
        <LicenceRows products={products} />
        <div className={ui.marginTop16}>
          <SpendRefusal spend={spend} />
        </div>
        <Button variant="primary" size="l" wide className={ui.marginTop12} busy={spend.busy} disabled={!isReady} onClick={spend.run}>
          {missing ?? `Place order, ${audOfCredits(total)}`}
        </Button>
        {!projects.isPending && writable.length === 0 && (
          <Note tone="warn" icon="lock">
            Only editors can place orders. Ask a project admin for the editor role.
          </Note>
        )}
        <p className={classes(fieldStyles.help, ui.center)}>
          Free cancellation until the vendor starts. Credits for undelivered scenes are refunded automatically.
        </p>
      </div>
      <div className={styles.footer}>
        <Icon name="lock" size={14} />
        <span>Clicking twice won&apos;t charge you twice.</span>
      </div>
    </aside>
  )
}

/** The first thing that is still missing, as the button says it. */
function missingStep(state: { estimate: Estimate | null; hasProject: boolean; isLoading: boolean; openLicences: number }): string | null {
  const { estimate, hasProject, isLoading, openLicences } = state
  if (!estimate || isLoading) return 'Calculating price…'
  if (estimate.errors.length > 0) return 'Remove scenes that cannot be priced'
  if (!hasProject) return 'Choose a project'
  if (openLicences > 0) return 'Accept the licence to place the order'
  return null
}
