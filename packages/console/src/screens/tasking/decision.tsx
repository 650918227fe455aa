/** A tasking order: its progress, the decisions that it needs, and what was requested. */
import { useParams } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { FeasibilityStudy, Order, Quotation } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { area as areaText, audOfCredits, date, dateShort, plural } from '../../ui/format.ts'
import { Badge, Card, Facts, Page, Segmented } from '../../ui/kit.ts'
import { WaitingPage } from '../../ui/states.tsx'
import { Coverage, Groups } from '../../parts/orders/coverage.tsx'
import { Details, Money } from '../../parts/orders/details.tsx'
import { isOver, orderStatus, useOrder } from '../../state/order-states.ts'
import { paramOf } from './group-params.ts'
import { STANDARD_DEG } from './passes.tsx'
import { QuotationDecision } from './quotation-decision.tsx'
import { StudyDecision } from './study-decision.tsx'
import { Ended, Step, type StepParts } from '../../parts/orders/progress.tsx'
import { OrderActions } from '../../parts/orders/actions.tsx'
import { classes } from '../../ui/classes.ts'
import progressStyles from '../../parts/orders/progress.module.css'
import ui from '../../ui/ui.module.css'

const POLL_MS = 5_000

export function TaskingOrder(): ReactElement {
  const { order: id } = useParams({ from: '/inside/tasking/$order' })
  const order = useOrder(id)
  useTitle({ text: 'Tasking', to: '/tasking' }, order.data?.displayName ?? 'Order')
  if (!order.data) return <WaitingPage title="Tasking order" query={order} />
  return <TaskingOrderPage order={order.data} />
}

function TaskingOrderPage({ order }: { order: Order }): ReactElement {
  const live = { refetchInterval: isOver(order) ? (false as const) : POLL_MS }
  const studies = useOp('orders.tasking.feasibility_studies.list', { orderId: order.id, size: 50 }, live)
  const quotations = useOp('orders.tasking.quotations.list', { orderId: order.id, size: 50 }, live)
  const said = orderStatus(order)
  const isOpen = order.status === 'pending'
  const openStudies = (studies.data?.content ?? []).filter(
    ({ state, decision }) => isOpen && state === 'answered' && decision === 'NOT_DECIDED',
  )
  const openQuotations = (quotations.data?.content ?? []).filter(
    ({ state, decision }) => isOpen && state === 'issued' && decision === 'NOT_DECIDED',
  )
  return (
    <Page
      title={
        <span className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
          {order.displayName} <Badge tone={said.tone}>{said.text}</Badge>
        </span>
      }
      about={aboutOf(order, openStudies.length + openQuotations.length)}
      actions={<OrderActions order={order} />}
    >
      <ol className={progressStyles.progress} aria-label="Progress" tabIndex={0}>
        {stepsOf(order, studies.data?.content ?? [], quotations.data?.content ?? []).map((step) => (
          <Step key={step.text} {...step} />
        ))}
      </ol>
      <Ended order={order} />
      <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop16)}>
        <Decisions order={order} studies={openStudies} quotations={openQuotations} />
        <div className={classes(ui.grid, ui.twoToOne)}>
          <div className={classes(ui.flexColumn, ui.gap16)}>
            <Coverage order={order} />
            <Groups order={order} />
          </div>
          <div className={classes(ui.flexColumn, ui.gap16)}>
            <Requirements order={order} />
            <Money order={order} />
            <Details order={order} />
          </div>
        </div>
      </div>
    </Page>
  )
}

interface DecisionsParts {
  order: Order
  studies: readonly FeasibilityStudy[]
  quotations: readonly Quotation[]
}

/** Each area has its own decision; they are shown one at a time. */
function Decisions({ order, studies, quotations }: DecisionsParts): ReactElement | null {
  const [chosen, setChosen] = useState<string | null>(null)
  const areaOf = (groupId: string) => order.groups.findIndex(({ id }) => id === groupId) + 1
  const all = [...studies, ...quotations].toSorted((a, b) => areaOf(a.groupId) - areaOf(b.groupId))
  const current = all.find(({ id }) => id === chosen) ?? all[0]
  if (!current) return null
  const group = order.groups.find(({ id }) => id === current.groupId)
  return (
    <>
      {all.length > 1 && (
        <div className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
          <b>{plural(all.length, 'decision')} to make</b>
          <Segmented
            label="Decision for"
            value={current.id}
            onChange={setChosen}
            options={all.map(({ id, groupId }) => ({ value: id, text: `Area ${areaOf(groupId)}` }))}
          />
        </div>
      )}
      {'options' in current ? (
        <StudyDecision key={current.id} study={current} order={order} group={group} />
      ) : (
        <QuotationDecision key={current.id} quotation={current} order={order} group={group} />
      )}
    </>
  )
}

function aboutOf(order: Order, waiting: number): string {
  const what = `Tasking order of ${date(order.createdAt)}, ${[...new Set(order.groups.map(({ dataProduct }) => dataProduct))].join(', ')}.`
  if (waiting > 0) return `${what} The vendor has responded. Nothing is charged until you accept.`
  return order.status === 'pending' ? `${what} Waiting for the vendor. You'll be notified when it responds.` : what
}

function stepsOf(order: Order, studies: readonly FeasibilityStudy[], quotations: readonly Quotation[]): StepParts[] {
  const { status, subStatus, history } = order
  const at = (wanted: string) => history.find((step) => step.status === wanted)?.timestamp
  const isAsking = status === 'pending'
  const isStopped = status === 'failed' || status === 'cancelled'
  const agreed = at('processing')
  const state = (done: boolean, now: boolean): StepParts['state'] => (done ? 'done' : now && !isStopped ? 'now' : '')
  const isQuoted = quotations.length > 0 || subStatus === 'awaiting_quotation'
  const studied = studies.length > 0 && studies.every((study) => study.state !== 'waiting')
  const quoted = quotations.length > 0 && quotations.every((quotation) => quotation.state !== 'requested')
  const expires = [...studies, ...quotations].find(({ decision }) => decision === 'NOT_DECIDED')?.expiresAt
  const isYours = subStatus === 'feasibility_ready' || subStatus === 'quotation_ready'
  return [
    { text: 'Ordered', when: dateShort(order.createdAt), state: 'done' },
    ...(studies.length > 0
      ? [{ text: 'Feasibility study', when: studied ? '' : 'waiting for the vendor', state: state(studied, isAsking) }]
      : []),
    ...(isQuoted
      ? [
          {
            text: 'Quotation',
            when: quoted ? '' : 'waiting for the vendor',
            state: state(quoted, isAsking && subStatus === 'awaiting_quotation'),
          },
        ]
      : []),
    {
      text: 'Your decision',
      when: agreed ? dateShort(agreed) : isYours && expires ? `by ${dateShort(expires)}` : '',
      state: state(agreed !== undefined, isAsking && isYours),
    },
    isStopped
      ? { text: status === 'failed' ? 'Failed' : 'Cancelled', when: dateShort(history.at(-1)?.timestamp), state: 'now' }
      : {
          text: 'Acquisition',
          when: at('awaiting_data') ? dateShort(at('awaiting_data')) : '',
          state: state(status === 'fulfilled', agreed !== undefined),
        },
    ...(isStopped
      ? []
      : [{ text: 'Delivered', when: order.fulfilledAt ? dateShort(order.fulfilledAt) : '', state: state(status === 'fulfilled', false) }]),
  ]
}

function Requirements({ order }: { order: Order }): ReactElement {
  const [group] = order.groups
  const [from, to] = [paramOf(group, 'acquisitionStart'), paramOf(group, 'acquisitionEnd')]
  return (
    <Card title="Requested">
      <Facts
        rows={[
          ['Areas', `${order.groups.length}, ${areaText(order.groups.reduce((sum, { aoi_km2 }) => sum + aoi_km2, 0) * 1e6)} in total`],
          ['Product', group?.dataProduct ?? '–'],
          ['Window', `${dateShort(from as string)} to ${date(to as string)}`],
          ['Cloud cover', `up to ${String(paramOf(group, 'cloudCoverage') ?? 15)}%`],
          ['Off nadir', `up to ${String(paramOf(group, 'maxOffNadirAngle') ?? STANDARD_DEG)}°`],
          ['Original estimate', <span className={ui.numeric}>{audOfCredits(order.estimatedCredits)}</span>],
        ]}
      />
    </Card>
  )
}
