/** One order: how far it is, what came, what it cost, and how to undo it while that is free. Live while it is under way. */
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { mayWrite, useProjects, useWho } from '../../shell/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { audOfCredits, count, date, dateTimeShort, plural } from '../../ui/format.ts'
import { Badge, Button, LinkButton, Note, Page } from '../../ui/kit.tsx'
import { FormProblem, WaitingPage } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { Coverage, Groups } from './coverage.tsx'
import { Details, Money } from './details.tsx'
import { useSpend } from './spend.tsx'
import { isCancellable, isOver, saidOf } from './states.ts'

const LOOK_EVERY_MS = 5_000

export const useOrder = (id: string) =>
  useOp('orders.get', { id }, { staleTime: 0, refetchInterval: LOOK_EVERY_MS, while: (order) => !isOver(order) })

export function OrderPage(): ReactElement {
  const { id } = useParams({ strict: false }) as { id: string }
  const order = useOrder(id)
  useTitle({ text: 'Orders', to: '/orders' }, order.data?.displayName ?? 'Order')
  if (!order.data) return <WaitingPage title="Order" query={order} />
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
      <ol className="flow" aria-label="Progress" tabIndex={0}>
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
      text: 'Accepted by vendor',
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
