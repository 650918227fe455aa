/** One order: how far it is, what came, what it cost, and how to undo it while that is free. Live while it is under way. */
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, type ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { useTitle } from '../../state/crumbs.ts'
import { date, plural } from '../../ui/format.ts'
import { Badge, Page } from '../../ui/kit.ts'
import { WaitingPage } from '../../ui/states.tsx'
import { Coverage, Groups } from '../../parts/orders/coverage.tsx'
import { Details, Money } from '../../parts/orders/details.tsx'
import { orderStatus, useOrder } from '../../state/order-states.ts'
import { archiveSteps } from './archive-steps.ts'
import { OrderActions } from '../../parts/orders/actions.tsx'
import { Step, Ended } from '../../parts/orders/progress.tsx'
import { classes } from '../../ui/classes.ts'
import progressStyles from '../../parts/orders/progress.module.css'
import ui from '../../ui/ui.module.css'

export function OrderPage(): ReactElement {
  const { id } = useParams({ from: '/inside/orders/$id' })
  const order = useOrder(id)
  useTitle({ text: 'Orders', to: '/orders' }, order.data?.displayName ?? 'Order')
  if (!order.data) return <WaitingPage title="Order" query={order} />
  return order.data.orderType === 'tasking' ? <ToTasking id={id} /> : <ArchiveOrder order={order.data} />
}

function ToTasking({ id }: { id: string }): null {
  const navigate = useNavigate()
  useEffect(() => void navigate({ to: '/tasking/$order', params: { order: id }, replace: true }), [id, navigate])
  return null
}

function ArchiveOrder({ order }: { order: Order }): ReactElement {
  const said = orderStatus(order)
  const done = order.groups.filter(({ itemIds }) => itemIds.length > 0).length
  return (
    <Page
      title={
        <span className={classes(ui.flexRow, ui.gap8, ui.wrap)}>
          {order.displayName} <Badge tone={said.tone}>{said.text}</Badge>
        </span>
      }
      about={`Archive order of ${date(order.createdAt)}. ${done} of ${plural(order.groups.length, 'group')} on the map.`}
      actions={<OrderActions order={order} />}
    >
      <ol className={progressStyles.progress} aria-label="Progress" tabIndex={0}>
        {archiveSteps(order).map((step) => (
          <Step key={step.text} {...step} />
        ))}
      </ol>
      <Ended order={order} />
      <div className={classes(ui.grid, ui.twoToOne, ui.marginTop16)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Coverage order={order} />
          <Groups order={order} />
        </div>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Money order={order} />
          <Details order={order} />
        </div>
      </div>
    </Page>
  )
}
