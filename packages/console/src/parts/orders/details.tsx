/** What an order costs, and the facts of it. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { audOfCredits, count, dateTime } from '../../ui/format.ts'
import { Badge, Button, Card, CopyButton, Facts, Field } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { isCancellable, isOver } from '../../state/order-states.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function Money({ order }: { order: Order }): ReactElement {
  const rest = order.totalCredits - order.capturedCredits
  const isEnded = isOver(order)
  if (order.accrual !== null) return <OnAccount order={order} isEnded={isEnded} />
  return (
    <Card title="Cost">
      <Facts
        rows={[
          ['Estimated', <span className={ui.numeric}>{count(order.estimatedCredits)}</span>],
          ['Reserved', <span className={ui.numeric}>{count(order.totalCredits)}</span>],
          ['Charged', <span className={ui.numeric}>{count(order.capturedCredits)}</span>],
          [isEnded ? 'Refunded' : 'Still reserved', <span className={ui.numeric}>{count(rest)}</span>],
          ['Paid', { credit: 'from credits', card: 'by card', enterprise: 'on account' }[order.billingMode]],
        ]}
      />
      {!isEnded && rest > 0 && (
        <p className={classes(ui.soft, ui.small, ui.marginTop8)}>Credits for undelivered scenes are refunded automatically.</p>
      )}
    </Card>
  )
}

/** Nothing is set aside: the account owes it, provisionally until the order ends. */
const OnAccount = ({ order, isEnded }: { order: Order; isEnded: boolean }) => (
  <Card title="Cost" aside={<Badge tone={isEnded ? '' : 'warn'}>{isEnded ? 'Final' : 'Provisional'}</Badge>}>
    <Facts
      rows={[
        ['Estimated', <span className={ui.numeric}>{count(order.estimatedCredits)}</span>],
        ['Agreed', <span className={ui.numeric}>{count(order.totalCredits)}</span>],
        ['On account', <b className={ui.numeric}>{audOfCredits(isEnded ? order.capturedCredits : order.totalCredits)}</b>],
        ['Paid', 'by monthly invoice'],
      ]}
    />
    {!isEnded && (
      <p className={classes(ui.soft, ui.small, ui.marginTop8)}>
        When the order ends, this is adjusted to what was delivered and added to that month's invoice.
      </p>
    )}
  </Card>
)

export function Details({ order }: { order: Order }): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const project = projects.data?.projects.find(({ id }) => id === order.projectId)
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Order', <CopyButton key="id" text={order.id} label={`${order.id.slice(0, 13)}…`} variant="quiet" />],
          [
            'Project',
            <Link key="project" to="/library/$project" params={{ project: order.projectId }}>
              {project?.name ?? 'open'}
            </Link>,
          ],
          ['Ordered by', order.createdBy === who.userId ? 'you' : order.apiKeyId ? 'an API key' : 'a colleague'],
          ['Placed', dateTime(order.createdAt)],
          ['Licence', order.licenseType.replaceAll('_', ' ')],
          ['Can be cancelled', isCancellable(order) ? 'until the vendor starts' : 'no'],
          ...(order.simulated ? [['Imagery', 'Simulated (sandbox)'] as const] : []),
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
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
        {order.tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        {mayEdit && (
          <Button size="s" variant="quiet" icon="plus" onClick={() => setText(order.tags.join(', '))}>
            {order.tags.length === 0 ? 'Add tags' : 'Edit tags'}
          </Button>
        )}
      </div>
    )
  const tags = text.split(',').flatMap((tag) => tag.trim() || [])
  return (
    <form
      className={classes(ui.flexColumn, ui.gap8, ui.marginTop12)}
      onSubmit={(event) => {
        event.preventDefault()
        update.mutate({ order_id: order.id, tags }, { onSuccess: () => setText(null) })
      }}
    >
      <Field label="Tags (comma-separated)" value={text} onChange={(event) => setText(event.target.value)} />
      <FormProblem error={update.error} />
      <div className={classes(ui.flexRow, ui.gap8)}>
        <Button type="submit" size="s" variant="primary" busy={update.isPending}>
          Keep
        </Button>
        <Button size="s" onClick={() => setText(null)}>
          Leave
        </Button>
      </div>
    </form>
  )
}
