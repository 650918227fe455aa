/** One order: how far it is, what came, what it cost, and how to undo it while that is free. Live while it is under way. */
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import type { Order, OrderGroup } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { boxOf, type Box } from '../../map/geo.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { mayWrite, useProjects, useWho } from '../../shell/who.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ago, area as areaText, audOfCredits, count, date, dateTime, dateTimeShort, percent, plural } from '../../ui/format.ts'
import { Badge, Bar, Button, Card, CopyButton, Facts, Field, LinkButton, Note, Page } from '../../ui/kit.tsx'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { CardMap, collectionOf } from './card-map.tsx'
import { useSpend } from './spend.tsx'
import { isCancellable, isOver, saidOf, saidOfGroup } from './states.ts'

const LOOK_EVERY_MS = 5_000

export const useOrder = (id: string) =>
  useOp('orders.get', { id }, { staleTime: 0, refetchInterval: LOOK_EVERY_MS, while: (order) => !isOver(order) })

export function OrderPage(): ReactElement {
  const { id } = useParams({ strict: false }) as { id: string }
  const order = useOrder(id)
  useTitle({ text: 'Orders', to: '/orders' }, order.data?.displayName ?? 'Order')
  if (!order.data)
    return (
      <Page title="Order">
        <Loaded query={order} rows={5}>
          {() => null}
        </Loaded>
      </Page>
    )
  return order.data.orderType === 'tasking' ? <ToTasking id={id} /> : <ArchiveOrder order={order.data} />
}

function ToTasking({ id }: { id: string }): null {
  const navigate = useNavigate()
  useEffect(() => void navigate({ to: '/tasking/$order', params: { order: id } as never, replace: true }), [id, navigate])
  return null
}

function ArchiveOrder({ order }: { order: Order }): ReactElement {
  const said = saidOf(order)
  const done = order.groups.filter(({ itemIds }) => itemIds.length > 0).length
  return (
    <Page
      title={
        <span className="row g8 wrap">
          {order.displayName} <Badge tone={said.tone}>{said.text}</Badge>
        </span>
      }
      about={`Archive order of ${date(order.createdAt)}. ${done} of ${plural(order.groups.length, 'group')} on the map.`}
      actions={<OrderActions order={order} />}
    >
      <ol className="flow" aria-label="Progress">
        {archiveSteps(order).map((step) => (
          <Step key={step.text} {...step} />
        ))}
      </ol>
      <Ended order={order} />
      <div className="grid two-one mt16">
        <div className="col g16">
          <Coverage order={order} />
          <Groups order={order} />
        </div>
        <div className="col g16">
          <Money order={order} />
          <Details order={order} />
        </div>
      </div>
    </Page>
  )
}

export interface StepParts {
  text: string
  when: string
  state: 'done' | 'now' | ''
}

export const Step = ({ text, when, state }: StepParts) => (
  <li className={state} aria-current={state === 'now' ? 'step' : undefined}>
    <i />
    <b>{text}</b>
    <span className="soft sm">{when}</span>
  </li>
)

function archiveSteps({ status, history, groups, fulfilledAt }: Order): StepParts[] {
  const at = (wanted: string) => history.find((step) => step.status === wanted)?.timestamp
  const [placed, taken] = [at('processing'), at('awaiting_data')]
  const came = groups.filter(({ itemIds }) => itemIds.length > 0).length
  const stopped = status === 'failed' || status === 'cancelled'
  const end = history.at(-1)
  return [
    { text: 'Placed', when: placed ? dateTimeShort(placed) : '', state: 'done' },
    {
      text: 'Taken on by the vendor',
      when: taken ? dateTimeShort(taken) : 'usually within minutes',
      state: taken ? 'done' : stopped ? '' : 'now',
    },
    { text: 'Data arriving', when: `${came} of ${groups.length}`, state: fulfilledAt ? 'done' : taken && !stopped ? 'now' : '' },
    stopped
      ? { text: status === 'failed' ? 'Failed' : 'Cancelled', when: end ? dateTimeShort(end.timestamp) : '', state: 'now' }
      : { text: 'Delivered', when: fulfilledAt ? dateTimeShort(fulfilledAt) : '', state: fulfilledAt ? 'done' : '' },
  ]
}

/** Why it came to an end other than the wanted one. */
export function Ended({ order }: { order: Order }): ReactElement | null {
  if (!order.failureReason) return null
  const returned = order.totalCredits - order.capturedCredits
  return (
    <div className="mt16">
      <Note tone={order.status === 'failed' ? 'bad' : 'warn'} icon="warn">
        {order.failureReason}. {isOver(order) && returned > 0 && `${count(returned)} credits were given back.`}
      </Note>
    </div>
  )
}

export function OrderActions({ order }: { order: Order }): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const [cancelling, setCancelling] = useState(false)
  const project = projects.data?.projects.find(({ id }) => id === order.projectId)
  const [first] = order.itemIds
  return (
    <>
      {isCancellable(order) && mayWrite(who, project) && (
        <Button look="danger" onClick={() => setCancelling(true)}>
          {order.status === 'pending' ? 'Decline and cancel' : 'Cancel the order'}
        </Button>
      )}
      <LinkButton icon="flow" to="/lineage/$type/$id" params={{ type: 'order', id: order.id } as never}>
        Lineage
      </LinkButton>
      {first && (
        <LinkButton look="primary" icon="layers" to="/view/$item" params={{ item: first } as never}>
          {order.itemIds.length === 1 ? 'Open the item' : `Open ${order.itemIds.length} items`}
        </LinkButton>
      )}
      {cancelling && <CancelOrder order={order} onClose={() => setCancelling(false)} />}
    </>
  )
}

function CancelOrder({ order, onClose }: { order: Order; onClose(): void }): ReactElement {
  const spend = useSpend('orders.cancel', { id: order.id }, () => {
    toast('The order is cancelled')
    onClose()
  })
  return (
    <Dialog title={order.status === 'pending' ? 'Decline and cancel' : 'Cancel the order'} onClose={onClose}>
      <div className="col g12">
        <p>
          {order.totalCredits > 0
            ? `${count(order.totalCredits)} credits (${audOfCredits(order.totalCredits)}) are given back.`
            : 'Nothing was charged, and nothing is.'}{' '}
          What a vendor has already started cannot be stopped; then nothing changes and you are told.
        </p>
        <FormProblem error={spend.error} />
        <div className="row g8">
          <Button look="danger" busy={spend.busy} onClick={spend.run}>
            Cancel &lsquo;{order.displayName}&rsquo;
          </Button>
          <Button onClick={onClose}>Keep it</Button>
        </div>
      </div>
    </Dialog>
  )
}

/** What a group is about, wherever it says so. */
export function geometryOf({ captures, featureCollection }: OrderGroup): GeoJSON.Geometry {
  if (captures) return collectionOf(captures.map(({ geometry }) => geometry as unknown as GeoJSON.Geometry))
  const features = (featureCollection as { features?: { geometry: GeoJSON.Geometry }[] } | null)?.features ?? []
  return collectionOf(features.map(({ geometry }) => geometry))
}

const polygonsIn = (geometry: GeoJSON.Geometry): GeoJSON.Geometry[] =>
  geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(polygonsIn) : [geometry]

export function Coverage({ order }: { order: Order }): ReactElement {
  const coverage = useOp('orders.coverage.get', { order_id: order.id }, { refetchInterval: isOver(order) ? false : LOOK_EVERY_MS })
  const shapes = order.groups.flatMap((group) =>
    polygonsIn(geometryOf(group)).map((geometry, index) => ({ id: `${group.id}-${index}`, geometry })),
  )
  const items = order.groups.flatMap((group) => {
    const box = boxOf(geometryOf(group)) as Box | null
    return box ? group.itemIds.map((id) => ({ id, box })) : []
  })
  const isComplete = isOver(order) && items.length > 0
  const remainder = isComplete ? null : ((coverage.data?.remainder.geometry ?? null) as unknown as GeoJSON.Geometry | null)
  return (
    <Card
      title="Coverage"
      aside={
        <span className="row g12 xs soft">
          <span className="lg" style={{ '--c': 'var(--c1)' } as never}>
            ordered
          </span>
          {remainder && (
            <span className="lg" style={{ '--c': 'var(--signal)' } as never}>
              still to come
            </span>
          )}
        </span>
      }
      flush
    >
      <CardMap label="Map of what was ordered and what came" shapes={shapes} items={items} area={remainder} />
      {coverage.data && (
        <div className="bd">
          <div className="row between sm g8">
            <span>
              <b className="num">
                {areaText(coverage.data.covered.sqKmArea * 1e6)} of{' '}
                {areaText((coverage.data.covered.sqKmArea + coverage.data.remainder.sqKmArea) * 1e6)}
              </b>{' '}
              <span className="soft">covered</span>
            </span>
            <span className="soft num">{percent(coverage.data.covered.percentage)}</span>
          </div>
          <div className="mt8">
            <Bar label="Covered" share={coverage.data.covered.percentage / 100} />
          </div>
        </div>
      )}
    </Card>
  )
}

export function Groups({ order }: { order: Order }): ReactElement {
  const groups = useOp('orders.coverage.groups.list', { order_id: order.id }, { refetchInterval: isOver(order) ? false : LOOK_EVERY_MS })
  const coveredOf = (id: string) => groups.data?.groups.find(({ groupId }) => groupId === id)?.covered.percentage ?? 0
  return (
    <Card title="Groups" aside={<span className="soft sm hide-s">each is delivered and charged by itself</span>} flush>
      <ul>
        {order.groups.map((group, index) => (
          <GroupRow key={group.id} name={`Area ${index + 1}`} group={group} covered={coveredOf(group.id)} updatedAt={order.updatedAt} />
        ))}
      </ul>
    </Card>
  )
}

function GroupRow({
  name,
  group,
  covered,
  updatedAt,
}: {
  name: string
  group: OrderGroup
  covered: number
  updatedAt: string
}): ReactElement {
  const said = saidOfGroup(group)
  const [item] = group.itemIds
  const picture = item ? tileOf(`/api/v1/items/${encodeURIComponent(item)}`, boxOf(geometryOf(group))) : null
  const first = group.captures?.[0]
  return (
    <li className="uf">
      <span className="th2">{picture && <AuthImage path={picture} alt="" />}</span>
      <div className="grow">
        <div className="row g6 wrap">
          <b className="cut">{first?.acquiredAt ? date(first.acquiredAt) : name}</b>
          <Badge tone={said.tone}>{said.text}</Badge>
        </div>
        <div className="soft sm cut">
          {group.host}, {areaText(group.aoi_km2 * 1e6)}
          {item ? `, ${plural(group.itemIds.length, 'item')}` : `, last change ${ago(updatedAt)}`}
        </div>
        <div className="mt4">
          <Bar label={`Delivered of this group`} share={covered / 100} />
        </div>
        {group.failureReason && <p className="warn sm mt4">{group.failureReason}</p>}
        <div className="row g6 wrap mt4">
          {group.itemIds.map((id, index) => (
            <Link key={id} to="/view/$item" params={{ item: id } as never} className="sm">
              Open {group.itemIds.length > 1 ? `item ${index + 1}` : 'the item'}
            </Link>
          ))}
        </div>
      </div>
      <div className="r nowrap">
        <b className="num">{audOfCredits(group.capturedCredits || group.credits)}</b>
        <div className="soft sm">{percent(Math.round(covered))}</div>
      </div>
    </li>
  )
}

export function Money({ order }: { order: Order }): ReactElement {
  const rest = order.totalCredits - order.capturedCredits
  const isEnded = isOver(order)
  return (
    <Card title="Money">
      <Facts
        rows={[
          ['Estimated', <span className="num">{count(order.estimatedCredits)}</span>],
          ['Reserved', <span className="num">{count(order.totalCredits)}</span>],
          ['Charged', <span className="num">{count(order.capturedCredits)}</span>],
          [isEnded ? 'Returned' : 'Still reserved', <span className="num">{count(rest)}</span>],
          ['Paid', { credit: 'from credits', card: 'by card', enterprise: 'on account' }[order.billingMode]],
        ]}
      />
      {!isEnded && rest > 0 && <p className="soft sm mt8">What cannot be delivered returns by itself.</p>}
    </Card>
  )
}

export function Details({ order }: { order: Order }): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const project = projects.data?.projects.find(({ id }) => id === order.projectId)
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Order', <CopyButton key="id" text={order.id} label={`${order.id.slice(0, 13)}…`} look="quiet" />],
          [
            'Project',
            <Link key="project" to="/library/$project" params={{ project: order.projectId } as never}>
              {project?.name ?? 'open'}
            </Link>,
          ],
          ['Ordered by', order.createdBy === who.userId ? 'you' : order.apiKeyId ? 'an API key' : 'a colleague'],
          ['Placed', dateTime(order.createdAt)],
          ['Licence', order.licenseType.replaceAll('_', ' ')],
          ['Can be cancelled', isCancellable(order) ? 'until the vendor starts' : 'no'],
          ...(order.simulated ? [['Imagery', 'invented by the sandbox'] as const] : []),
        ]}
      />
      <TagEditor order={order} mayEdit={mayWrite(who, project)} />
    </Card>
  )
}

function TagEditor({ order, mayEdit }: { order: Order; mayEdit: boolean }): ReactElement {
  const update = useAct('orders.update', ['orders'])
  const [text, setText] = useState<string | null>(null)
  if (text === null)
    return (
      <div className="row g6 wrap mt12">
        {order.tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        {mayEdit && (
          <Button size="s" look="quiet" icon="plus" onClick={() => setText(order.tags.join(', '))}>
            {order.tags.length === 0 ? 'Tag it' : 'Change tags'}
          </Button>
        )}
      </div>
    )
  const tags = text.split(',').flatMap((tag) => tag.trim() || [])
  return (
    <form
      className="col g8 mt12"
      onSubmit={(event) => {
        event.preventDefault()
        update.mutate({ order_id: order.id, tags }, { onSuccess: () => setText(null) })
      }}
    >
      <Field label="Tags, with commas between" value={text} onChange={(event) => setText(event.target.value)} />
      <FormProblem error={update.error} />
      <div className="row g8">
        <Button type="submit" size="s" look="primary" busy={update.isPending}>
          Keep
        </Button>
        <Button size="s" onClick={() => setText(null)}>
          Leave
        </Button>
      </div>
    </form>
  )
}
