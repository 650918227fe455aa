/** Every order of the organization, with what waits for a decision and what is chosen but not ordered. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { useWho } from '../../state/who.ts'
import { plural } from '../../ui/format.ts'
import { Button, Card, Choice, LinkButton, Note, Page, Segmented, Toggle } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { ProjectFilter } from '../../parts/project-filter.tsx'
import { useCart } from '../../state/cart.ts'
import { chosenText, useEstimate } from '../../state/estimate.ts'
import { OrderTable } from '../../parts/orders/order-table.tsx'
import { classes } from '../../ui/classes.ts'
import listPageStyles from '../../parts/list-page.module.css'
import cardStyles from '../../ui/card.module.css'
import ui from '../../ui/ui.module.css'

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
      about="Archive imagery and tasking of new images."
      actions={
        <>
          <LinkButton to="/tasking/new" icon="sat">
            Task a satellite
          </LinkButton>
          <LinkButton to="/explore" variant="primary" icon="search">
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
                title="No matching orders"
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
                    <LinkButton to="/explore" variant="primary">
                      Search scenes
                    </LinkButton>
                    <LinkButton to="/tasking/new">Task a satellite</LinkButton>
                  </>
                }
              >
                Choose scenes on the map, or task a satellite.
              </Empty>
            ))
          }
        >
          {({ content, totalElements, totalPages }) => (
            <>
              <OrderTable orders={content.filter(({ createdBy }) => !isMine || createdBy === who.userId)} />
              {!isMine && totalPages > 1 && (
                <div className={classes(ui.flexRow, ui.between, cardStyles.body)}>
                  <span className={classes(ui.soft, ui.small)}>{plural(totalElements, 'order')}</span>
                  <span className={classes(ui.flexRow, ui.gap8)}>
                    <Button size="s" disabled={page === 0} onClick={() => setUrl({ page: page === 1 ? null : String(page) }, true)}>
                      Newer
                    </Button>
                    <span className={classes(ui.numeric, ui.small)}>
                      {page + 1} of {totalPages}
                    </span>
                    <Button size="s" disabled={page + 1 >= totalPages} onClick={() => setUrl({ page: String(page + 2) }, true)}>
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
    <div className={classes(ui.flexRow, ui.gap8, ui.wrap, listPageStyles.filterRow)}>
      <Segmented
        label="State"
        value={(url['status'] ?? 'all') as Shown}
        onChange={(next) => setUrl({ status: next === 'all' ? null : next, page: null }, true)}
        options={[
          { value: 'all', text: 'All' },
          { value: 'open', text: 'In progress' },
          { value: 'delivered', text: 'Delivered' },
          { value: 'ended', text: 'Ended' },
        ]}
      />
      <Choice
        label="Type"
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
      <span className={classes(ui.flexRow, ui.gap6, ui.small, ui.soft)}>
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
    <div className={ui.marginBottom16}>
      <Note
        icon="cart"
        actions={
          <LinkButton to="/orders/review" variant="primary" size="s">
            Review order
          </LinkButton>
        }
      >
        <b>{plural(cart.length, 'scene')} chosen</b>
        {estimate.data && `, ${chosenText(estimate.data)}`}. Nothing is reserved yet.
      </Note>
    </div>
  )
}
