/** The progress of an archive order: placed, accepted by the vendor, data arriving, delivered. */
import type { Order } from '../../api/contract.ts'
import type { StepParts } from '../../parts/orders/progress.tsx'
import { dateTimeShort } from '../../ui/format.ts'

type Progress = Pick<Order, 'status' | 'history' | 'groups' | 'fulfilledAt'>

export function archiveSteps({ status, history, groups, fulfilledAt }: Progress): StepParts[] {
  const timeOf = (reached: Order['status']) => history.find((step) => step.status === reached)?.timestamp
  const [placedAt, acceptedAt] = [timeOf('processing'), timeOf('awaiting_data')]
  const delivered = groups.filter(({ itemIds }) => itemIds.length > 0).length
  const hasStopped = status === 'failed' || status === 'cancelled'
  // A vendor can deliver at once, without accepting first.
  const isAccepted = Boolean(acceptedAt ?? fulfilledAt)
  const end = history.at(-1)
  return [
    { text: 'Placed', when: placedAt ? dateTimeShort(placedAt) : '', state: 'done' },
    {
      text: 'Accepted by vendor',
      when: acceptedAt ? dateTimeShort(acceptedAt) : isAccepted || hasStopped ? '' : 'usually within minutes',
      state: isAccepted ? 'done' : hasStopped ? '' : 'now',
    },
    {
      text: 'Data arriving',
      when: `${delivered} of ${groups.length}`,
      state: fulfilledAt ? 'done' : isAccepted && !hasStopped ? 'now' : '',
    },
    hasStopped
      ? { text: status === 'failed' ? 'Failed' : 'Cancelled', when: end ? dateTimeShort(end.timestamp) : '', state: 'now' }
      : { text: 'Delivered', when: fulfilledAt ? dateTimeShort(fulfilledAt) : '', state: fulfilledAt ? 'done' : '' },
  ]
}
