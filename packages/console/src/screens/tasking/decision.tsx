/** A tasking order: what the vendor answered, what each option costs and allows, and the decision. */
import { useParams } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { FeasibilityStudy, Order, OrderGroup, Quotation } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { mayWrite, useProjects, useWho } from '../../shell/who.ts'
import { area as areaText, audOfCredits, count, date, dateShort, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, Facts, Note, Page, Segmented } from '../../ui/kit.tsx'
import { Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { Coverage, Details, Ended, Groups, Money, OrderActions, Step, useOrder, type StepParts } from '../orders/order.tsx'
import { SpendRefusal, useSpend, useSpendKey } from '../orders/spend.tsx'
import { isOver, saidOf } from '../orders/states.ts'
import { Caps, isAboveCaps, Payment, useCaps } from '../orders/total.tsx'
import { Passes, PassLegend } from './passes.tsx'

const LOOK_EVERY_MS = 5_000
const WIDEST_DEG = 45
const STANDARD_DEG = 25
const MAX_PASSES = 100

export function TaskingOrder(): ReactElement {
  const { order: id } = useParams({ strict: false }) as { order: string }
  const order = useOrder(id)
  useTitle({ text: 'Tasking', to: '/tasking' }, order.data?.displayName ?? 'Order')
  if (!order.data)
    return (
      <Page title="Tasking order">
        <Loaded query={order} rows={5}>
          {() => null}
        </Loaded>
      </Page>
    )
  return <OneTasking order={order.data} />
}

function OneTasking({ order }: { order: Order }): ReactElement {
  const live = { refetchInterval: isOver(order) ? (false as const) : LOOK_EVERY_MS }
  const studies = useOp('orders.tasking.feasibility_studies.list', { orderId: order.id, size: 50 }, live)
  const quotations = useOp('orders.tasking.quotations.list', { orderId: order.id, size: 50 }, live)
  const said = saidOf(order)
  const isOpen = order.status === 'pending'
  const askedStudies = (studies.data?.content ?? []).filter(
    ({ state, decision }) => isOpen && state === 'answered' && decision === 'NOT_DECIDED',
  )
  const askedQuotes = (quotations.data?.content ?? []).filter(
    ({ state, decision }) => isOpen && state === 'issued' && decision === 'NOT_DECIDED',
  )
  return (
    <Page
      title={
        <span className="row g8 wrap">
          {order.displayName} <Badge tone={said.tone}>{said.text}</Badge>
        </span>
      }
      about={aboutOf(order, askedStudies.length + askedQuotes.length)}
      actions={<OrderActions order={order} />}
    >
      <ol className="flow" aria-label="Progress">
        {stepsOf(order, studies.data?.content ?? [], quotations.data?.content ?? []).map((step) => (
          <Step key={step.text} {...step} />
        ))}
      </ol>
      <Ended order={order} />
      <div className="col g16 mt16">
        <Waiting order={order} studies={askedStudies} quotations={askedQuotes} />
        <div className="grid two-one">
          <div className="col g16">
            <Coverage order={order} />
            <Groups order={order} />
          </div>
          <div className="col g16">
            <Asked order={order} />
            <Money order={order} />
            <Details order={order} />
          </div>
        </div>
      </div>
    </Page>
  )
}

interface WaitingParts {
  order: Order
  studies: readonly FeasibilityStudy[]
  quotations: readonly Quotation[]
}

/** Each area has its own decision; one is shown at a time. */
function Waiting({ order, studies, quotations }: WaitingParts): ReactElement | null {
  const [chosen, setChosen] = useState<string | null>(null)
  const areaOf = (groupId: string) => order.groups.findIndex(({ id }) => id === groupId) + 1
  const all = [...studies, ...quotations].toSorted((a, b) => areaOf(a.groupId) - areaOf(b.groupId))
  const current = all.find(({ id }) => id === chosen) ?? all[0]
  if (!current) return null
  const group = order.groups.find(({ id }) => id === current.groupId)
  return (
    <>
      {all.length > 1 && (
        <div className="row g12 wrap">
          <b>{plural(all.length, 'decision')} to make</b>
          <Segmented
            label="Which decision"
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
  if (waiting > 0) return `${what} The vendor has answered. Nothing is charged until you accept.`
  return order.status === 'pending' ? `${what} The vendor is asked; you are told when it answers.` : what
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
  const quoted = quotations.length > 0 && quotations.every((quotation) => quotation.state !== 'waiting')
  const expires = [...studies, ...quotations].find(({ decision }) => decision === 'NOT_DECIDED')?.expiresAt
  const isYours = subStatus === 'feasibility_ready' || subStatus === 'quotation_ready'
  return [
    { text: 'Ordered', when: dateShort(order.createdAt), state: 'done' },
    ...(studies.length > 0
      ? [{ text: 'Feasibility studied', when: studied ? '' : 'the vendor is asked', state: state(studied, isAsking) }]
      : []),
    ...(isQuoted
      ? [
          {
            text: 'Quoted',
            when: quoted ? '' : 'the vendor is asked',
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

const paramOf = (group: OrderGroup | undefined, name: string): unknown => (group?.params as Record<string, unknown> | undefined)?.[name]

function Asked({ order }: { order: Order }): ReactElement {
  const [group] = order.groups
  const [from, to] = [paramOf(group, 'acquisitionStart'), paramOf(group, 'acquisitionEnd')]
  return (
    <Card title="Asked for">
      <Facts
        rows={[
          ['Areas', `${order.groups.length}, together ${areaText(order.groups.reduce((sum, { aoi_km2 }) => sum + aoi_km2, 0) * 1e6)}`],
          ['Product', group?.dataProduct ?? '–'],
          ['Window', `${dateShort(from as string)} to ${date(to as string)}`],
          ['Cloud', `up to ${String(paramOf(group, 'cloudCoverage') ?? 15)}%`],
          ['Angle', `up to ${String(paramOf(group, 'maxOffNadirAngle') ?? STANDARD_DEG)}°`],
          ['Estimate at order', <span className="num">{audOfCredits(order.estimatedCredits)}</span>],
        ]}
      />
    </Card>
  )
}

function useMayDecide(order: Order): boolean {
  const who = useWho()
  const projects = useProjects()
  return mayWrite(
    who,
    projects.data?.projects.find(({ id }) => id === order.projectId),
  )
}

interface StudyParts {
  study: FeasibilityStudy
  order: Order
  group: OrderGroup | undefined
}

function StudyDecision({ study, order, group }: StudyParts): ReactElement {
  const [chosenId, setChosenId] = useState(study.options[0]!.id)
  const caps = useCaps()
  const option = study.options.find(({ id }) => id === chosenId) ?? study.options[0]!
  const letter = (index: number) => String.fromCharCode(65 + index)
  const first = study.options[0]!
  return (
    <div className="grid two-one">
      <div className="col g16">
        <Card title="Options of the study" aside={<span className="soft sm">valid until {date(study.expiresAt)}</span>} flush>
          <div role="radiogroup" aria-label="Options of the study">
            {study.options.map((one, index) => (
              <label key={one.id} className={one.id === chosenId ? 'opt on' : 'opt'}>
                <input
                  type="radio"
                  name={`option-${study.id}`}
                  className="rd-in"
                  checked={one.id === chosenId}
                  onChange={() => setChosenId(one.id)}
                />
                <span className="grow">
                  <span className="row g6 wrap">
                    <b className="opt-name">Option {letter(index)}</b>
                    {one.credits < first.credits && <Badge tone="ok">{count(first.credits - one.credits)} less than A</Badge>}
                    {one.credits > first.credits && <Badge>{count(one.credits - first.credits)} more than A</Badge>}
                    {isAboveCaps(caps, one.credits) && <Badge tone="warn">Above your cap</Badge>}
                  </span>
                  <span className="soft block mt4">{one.description}</span>
                  <span className="row g16 mt8 sm wrap">
                    <span>
                      <Icon name="clock" /> {dateShort(one.acquisitionStart)} to {date(one.acquisitionEnd)}
                    </span>
                    {one.maxCloudCover !== null && <span>cloud up to {one.maxCloudCover}%</span>}
                    {one.maxOffNadirDeg !== null && <span>up to {one.maxOffNadirDeg}° off nadir</span>}
                  </span>
                </span>
                <span className="r">
                  <b className="num opt-price">{audOfCredits(one.credits)}</b>
                  <span className="soft sm num block">{count(one.credits)} credits</span>
                </span>
              </label>
            ))}
          </div>
        </Card>
        <OrderPasses group={group} optionLimit={option.maxOffNadirDeg} />
      </div>
      <AcceptOption study={study} order={order} option={option} name={`option ${letter(study.options.indexOf(option))}`} />
    </div>
  )
}

function OrderPasses({ group, optionLimit }: { group: OrderGroup | undefined; optionLimit: number | null }): ReactElement | null {
  const [from, to] = [String(paramOf(group, 'acquisitionStart') ?? ''), String(paramOf(group, 'acquisitionEnd') ?? '')]
  const asked = Number(paramOf(group, 'maxOffNadirAngle') ?? STANDARD_DEG)
  const featureCollection = (group?.featureCollection ?? { type: 'FeatureCollection', features: [] }) as {
    type: 'FeatureCollection'
    features: unknown[]
  }
  const passes = useOp(
    'orders.tasking.opportunities_list',
    {
      dataProduct: group?.dataProduct ?? '',
      featureCollection,
      params: { acquisitionStart: from, acquisitionEnd: to, maxOffNadirAngle: WIDEST_DEG },
      size: MAX_PASSES,
    },
    { enabled: group !== undefined && from !== '' && to !== '', staleTime: 300_000 },
  )
  return (
    <Card title="Predicted passes" aside={<PassLegend withOption={optionLimit !== null && optionLimit !== asked} />}>
      <Loaded query={passes} rows={2}>
        {({ content }) => <Passes passes={content} from={from} to={to} limit={asked} optionLimit={optionLimit} />}
      </Loaded>
    </Card>
  )
}

interface AcceptParts {
  study: FeasibilityStudy
  order: Order
  option: FeasibilityStudy['options'][number]
  name: string
}

function AcceptOption({ study, order, option, name }: AcceptParts): ReactElement {
  const mayDecide = useMayDecide(order)
  const input = { study_id: study.id, acceptedOptionId: option.id, maxCredits: option.credits }
  const spend = useSpend('orders.tasking.feasibility_decide', input, () => void toast(`Accepted ${name}`))
  useSpendKey(mayDecide && !spend.busy, spend.run)
  return (
    <aside className="card sticky" aria-label="Decision">
      <div className="bd">
        <div className="row between">
          <b className="cap-first">{name}</b>
          <b className="num opt-price">{audOfCredits(option.credits)}</b>
        </div>
        <Payment credits={option.credits} when="reserved when you accept" />
        <Caps credits={option.credits} />
        <div className="mt16">
          <SpendRefusal spend={spend} />
        </div>
        <Button look="primary" size="l" wide className="mt12" busy={spend.busy} disabled={!mayDecide} onClick={spend.run}>
          {mayDecide ? `Accept ${name}` : 'Deciding takes an editor'}
        </Button>
        <p className="help">
          Accepting binds your organization. To decline, cancel the order: nothing is charged. Without a decision by {date(study.expiresAt)}{' '}
          it is cancelled by itself.
        </p>
      </div>
    </aside>
  )
}

function QuotationDecision({
  quotation,
  order,
  group,
}: {
  quotation: Quotation
  order: Order
  group: OrderGroup | undefined
}): ReactElement {
  const mayDecide = useMayDecide(order)
  const credits = quotation.creditsPrice ?? 0
  const accept = useSpend(
    'orders.tasking.quotation_decide',
    { quotation_id: quotation.id, decision: 'ACCEPTED' },
    () => void toast('The quotation is accepted'),
  )
  const reject = useSpend(
    'orders.tasking.quotation_decide',
    { quotation_id: quotation.id, decision: 'REJECTED' },
    () => void toast('The quotation is rejected'),
  )
  const failed = accept.error ? accept : reject
  return (
    <div className="grid two-one">
      <div className="col g16">
        <Card title="Quotation" aside={<span className="soft sm">valid until {date(quotation.expiresAt)}</span>}>
          <Facts
            rows={[
              ['Price', <b className="num opt-price">{audOfCredits(credits)}</b>],
              ['In credits', <span className="num">{count(credits)}</span>],
              ['Price before', <span className="num">{group ? audOfCredits(group.credits) : '–'}</span>],
              ['For', group ? `${group.dataProduct}, ${areaText(group.aoi_km2 * 1e6)}` : '–'],
            ]}
          />
          {group && credits > group.credits && (
            <div className="mt12">
              <Note tone="warn" icon="warn">
                {count(credits - group.credits)} credits more than was said before.
              </Note>
            </div>
          )}
        </Card>
        <OrderPasses group={group} optionLimit={null} />
      </div>
      <aside className="card sticky" aria-label="Decision">
        <div className="bd">
          <div className="row between">
            <b>Quotation</b>
            <b className="num opt-price">{audOfCredits(credits)}</b>
          </div>
          <Payment credits={credits} when="reserved when you accept" />
          <Caps credits={credits} />
          <div className="mt16">
            <SpendRefusal spend={failed} />
          </div>
          <Button
            look="primary"
            size="l"
            wide
            className="mt12"
            busy={accept.busy}
            disabled={!mayDecide || reject.busy}
            onClick={accept.run}
          >
            {mayDecide ? `Accept, ${audOfCredits(credits)}` : 'Deciding takes an editor'}
          </Button>
          {mayDecide && (
            <Button wide className="mt8" busy={reject.busy} disabled={accept.busy} onClick={reject.run}>
              Reject, nothing is charged
            </Button>
          )}
          <p className="help">Without a decision by {date(quotation.expiresAt)} the order is cancelled by itself.</p>
        </div>
      </aside>
    </div>
  )
}
