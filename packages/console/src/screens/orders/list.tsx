/** Every order of the organization, with what waits for a decision and what is chosen but not ordered. */
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Order } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { useUrl } from '../../shell/url.ts'
import { useProjects, useWho } from '../../shell/who.ts'
import { audOfCredits, count, dateTimeShort, plural } from '../../ui/format.ts'
import { Badge, Button, Card, Choice, LinkButton, Note, Page, Segmented, Toggle } from '../../ui/kit.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { ProjectFilter } from '../project-filter.tsx'
import { useCart } from '../explore/cart.ts'
import { useEstimate } from '../explore/estimate.ts'
import { isOver, saidOf, waitsForDecision } from './states.ts'

const STATES = {
  all: null,
  open: 'pending,processing,awaiting_data',
  delivered: 'fulfilled',
  ended: 'failed,cancelled',
} as const
type Shown = keyof typeof STATES
const PAGE = 25
/** One's own are picked from this many. */
const MINE_PAGE = 100
const LOOK_EVERY_MS = 10_000

export function Orders(): ReactElement {
  const [url, setUrl] = useUrl()
  const who = useWho()
  const shown = (url['status'] ?? 'all') as Shown
  const isMine = url['mine'] === '1'
  const page = Math.max(0, Number(url['page'] ?? 1) - 1)
  const orders = useOp(
    'orders.list',
    {
      status: STATES[shown] ?? null,
      type: url['type'] ?? null,
      projectId: url['project'] ?? null,
      page: isMine ? 0 : page,
      size: isMine ? MINE_PAGE : PAGE,
    },
    { keep: true, refetchInterval: LOOK_EVERY_MS },
  )
  useTitle('Orders')
  const filtered = shown !== 'all' || isMine || url['type'] !== undefined || url['project'] !== undefined
  return (
    <Page
      title="Orders"
      about="Imagery of the archive and images that are yet to be taken."
      actions={
        <>
          <LinkButton to="/tasking/new" icon="sat">
            Task a satellite
          </LinkButton>
          <LinkButton to="/explore" look="primary" icon="search">
            Search scenes
          </LinkButton>
        </>
      }
    >
      <CartNote />
      <Filters />
      <Card flush>
        <Loaded
          query={orders}
          rows={5}
          empty={({ totalElements }) =>
            totalElements === 0 &&
            (filtered ? (
              <Empty
                title="No orders like these"
                actions={
                  <Button onClick={() => setUrl({ status: null, mine: null, type: null, project: null, page: null })}>Show all</Button>
                }
              />
            ) : (
              <Empty
                icon="cart"
                title="No orders yet"
                actions={
                  <>
                    <LinkButton to="/explore" look="primary">
                      Search scenes
                    </LinkButton>
                    <LinkButton to="/tasking/new">Task a satellite</LinkButton>
                  </>
                }
              >
                Choose scenes on the map, or ask for new ones.
              </Empty>
            ))
          }
        >
          {({ content, totalElements, totalPages }) => (
            <>
              <OrderTable orders={content.filter(({ createdBy }) => !isMine || createdBy === who.userId)} />
              {!isMine && totalPages > 1 && (
                <div className="row between bd">
                  <span className="soft sm">{plural(totalElements, 'order')}</span>
                  <span className="row g8">
                    <Button size="s" disabled={page === 0} onClick={() => setUrl({ page: page === 1 ? null : String(page) })}>
                      Newer
                    </Button>
                    <span className="num sm">
                      {page + 1} of {totalPages}
                    </span>
                    <Button size="s" disabled={page + 1 >= totalPages} onClick={() => setUrl({ page: String(page + 2) })}>
                      Older
                    </Button>
                  </span>
                </div>
              )}
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  )
}

/** The filters are the address. */
function Filters(): ReactElement {
  const [url, setUrl] = useUrl()
  return (
    <div className="row g8 wrap filter-row">
      <Segmented
        label="State"
        value={(url['status'] ?? 'all') as Shown}
        onChange={(next) => setUrl({ status: next === 'all' ? null : next, page: null })}
        options={[
          { value: 'all', text: 'All' },
          { value: 'open', text: 'Under way' },
          { value: 'delivered', text: 'Delivered' },
          { value: 'ended', text: 'Ended' },
        ]}
      />
      <Choice
        label="Kind"
        hideLabel
        value={url['type'] ?? ''}
        onChange={(event) => setUrl({ type: event.target.value || null, page: null })}
        options={[
          { value: '', text: 'Archive and tasking' },
          { value: 'ARCHIVE', text: 'Archive' },
          { value: 'TASKING', text: 'Tasking' },
        ]}
      />
      <ProjectFilter />
      <span className="row g6 sm soft">
        Mine <Toggle label="Only mine" on={url['mine'] === '1'} onChange={(on) => setUrl({ mine: on ? '1' : null, page: null })} />
      </span>
    </div>
  )
}

function CartNote(): ReactElement | null {
  const cart = useCart()
  const estimate = useEstimate(cart, { keep: true })
  if (cart.length === 0) return null
  return (
    <div className="mb16">
      <Note
        icon="cart"
        actions={
          <LinkButton to="/orders/review" look="primary" size="s">
            Review order
          </LinkButton>
        }
      >
        <b>{plural(cart.length, 'scene')} chosen</b>
        {estimate.data && `, ${audOfCredits(estimate.data.total_credits)}`}. Nothing is reserved yet.
      </Note>
    </div>
  )
}

const totalOf = ({ totalCredits, capturedCredits, estimatedCredits, ...order }: Order) =>
  isOver(order) ? capturedCredits : totalCredits || estimatedCredits

export function OrderTable({ orders }: { orders: readonly Order[] }): ReactElement {
  const projects = useProjects()
  const nameOf = (id: string) => projects.data?.projects.find((project) => project.id === id)?.name ?? '–'
  return (
    <table className="tbl stack order-table">
      <thead>
        <tr>
          <th>Order</th>
          <th>State</th>
          <th>Project</th>
          <th className="n">Groups</th>
          <th className="n">Price</th>
          <th>Placed</th>
        </tr>
      </thead>
      <tbody>
        {orders.map((order) => {
          const said = saidOf(order)
          return (
            <tr key={order.id}>
              <td>
                <Link
                  to={order.orderType === 'tasking' ? '/tasking/$order' : '/orders/$id'}
                  params={(order.orderType === 'tasking' ? { order: order.id } : { id: order.id }) as never}
                >
                  <b>{order.displayName}</b>
                </Link>
                <div className="soft sm">
                  {order.orderType === 'tasking' ? 'Tasking' : 'Archive'}, {[...new Set(order.groups.map(({ host }) => host))].join(', ')}
                </div>
              </td>
              <td>
                <Badge tone={said.tone}>{said.text}</Badge>
                {waitsForDecision(order) && <span className="sr"> Waiting for you.</span>}
              </td>
              <td className="hide-s">{nameOf(order.projectId)}</td>
              <td className="n hide-s">{count(order.groups.length)}</td>
              <td className="n">{audOfCredits(totalOf(order))}</td>
              <td className="soft hide-s">{dateTimeShort(order.createdAt)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
