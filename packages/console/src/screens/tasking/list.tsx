/** Tasking orders, the decisions they wait for, and saved templates. */
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { audOfCredits, date, plural } from '../../ui/format.ts'
import { Button, Card, LinkButton, Note, Page } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { OrderTable } from '../../parts/orders/order-table.tsx'
import { classes } from '../../ui/classes.ts'
import cardStyles from '../../ui/card.module.css'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const POLL_MS = 10_000

export function Tasking(): ReactElement {
  const orders = useOp('orders.list', { type: 'TASKING', size: 50 }, { keep: true, refetchInterval: POLL_MS })
  useTitle('Tasking')
  return (
    <Page
      title="Tasking"
      about="Order new imagery. The vendor sends a feasibility study or a quotation first. Nothing is charged until you accept a price."
      actions={
        <LinkButton variant="primary" icon="plus" to="/tasking/new">
          New tasking order
        </LinkButton>
      }
    >
      <div className={classes(ui.grid, ui.twoToOne)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Decisions names={new Map((orders.data?.content ?? []).map(({ id, displayName }) => [id, displayName]))} />
          <Card title="Orders" flush>
            <Loaded
              query={orders}
              rows={4}
              empty={({ totalElements }) =>
                totalElements === 0 && (
                  <Empty
                    icon="sat"
                    title="No tasking orders yet"
                    actions={
                      <LinkButton variant="primary" to="/tasking/new">
                        New tasking order
                      </LinkButton>
                    }
                  >
                    Draw areas, set dates and cloud cover, and see predicted passes before you order.
                  </Empty>
                )
              }
            >
              {({ content }) => <OrderTable orders={content} />}
            </Loaded>
          </Card>
        </div>
        <Templates />
      </div>
    </Page>
  )
}

function Decisions({ names }: { names: ReadonlyMap<string, string> }): ReactElement | null {
  const pending = useOp('orders.tasking.decisions.pending', {}, { refetchInterval: POLL_MS })
  if (!pending.data) return null
  const { studies, quotations } = pending.data
  const waiting = Map.groupBy(
    [
      ...studies.map(({ orderId, options, expiresAt }) => ({
        orderId,
        expiresAt,
        least: Math.min(...options.map(({ credits }) => credits)),
      })),
      ...quotations.map(({ orderId, creditsPrice, expiresAt }) => ({ orderId, expiresAt, least: creditsPrice ?? 0 })),
    ],
    ({ orderId }) => orderId,
  )
  return (
    <>
      {[...waiting].map(([orderId, decisions]) => (
        <Note
          key={orderId}
          tone="warn"
          icon="clock"
          actions={
            <LinkButton size="s" variant="primary" to="/tasking/$order" params={{ order: orderId }}>
              Decide
            </LinkButton>
          }
        >
          <b>{names.get(orderId) ?? 'A tasking order'}</b> needs {plural(decisions.length, 'decision')}, from{' '}
          {audOfCredits(decisions.reduce((sum, { least }) => sum + least, 0))} in total.{' '}
          <span className={ui.soft}>Decide by {date(decisions.map(({ expiresAt }) => expiresAt).toSorted()[0])}.</span>
        </Note>
      ))}
    </>
  )
}

function Templates(): ReactElement {
  const templates = useOp('orders.tasking.templates.list', {})
  const remove = useAct('orders.tasking.templates.delete', ['orders.tasking.templates'])
  return (
    <Card title="Templates" flush>
      <Loaded
        query={templates}
        rows={2}
        empty={({ templates: list }) =>
          list.length === 0 && (
            <p className={classes(ui.soft, cardStyles.body)}>Save requirements that you reuse as templates in the order form.</p>
          )
        }
      >
        {({ templates: list }) => (
          <ul>
            {list.map((template) => (
              <li key={template.id} className={listStyles.entry}>
                <div className={ui.grow}>
                  <Link to="/tasking/new" search={{ template: template.id }}>
                    <b>{template.name}</b>
                  </Link>
                  <div className={classes(ui.soft, ui.small)}>
                    {template.sensor}, cloud ≤ {template.max_cloud_coverage}%, off nadir ≤ {template.max_nadir_angle}°
                  </div>
                </div>
                <Button
                  size="s"
                  variant="quiet"
                  icon="x"
                  label={`Delete template ${template.name}`}
                  onClick={() =>
                    remove.mutate(
                      { template_id: template.id },
                      { onSuccess: () => void toast('Template deleted'), onError: (error) => void toast(error.message, 'bad') },
                    )
                  }
                />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}
