/** Endpoints, what was sent to each, what it answered, and what is tried next. */
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import type { EventSubscription, WebhookDelivery } from '../../api/contract.ts'
import { call } from '../../api/client.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { queries, touch, useAct, useOp, usePages } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { usePanel, useUrl } from '../../state/url.ts'
import { useMayManageAlerts, useWho } from '../../state/who.ts'
import { dateTime, dateTimeShort, shortId } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, LinkButton, Note, Page, Secret, Segmented } from '../../ui/kit.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Empty, Failed, FormProblem, Loaded, More, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { DevelopNav } from '../../parts/develop-nav.tsx'
import { DeliveryPanel, answerOf, tookOf } from './delivery.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { SignatureDialog } from './signature.tsx'
import { classes } from '../../ui/classes.ts'
import secretStyles from '../../ui/secret.module.css'
import styles from './webhooks.module.css'
import buttonStyles from '../../ui/button.module.css'
import cardStyles from '../../ui/card.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const MAX_ENDPOINTS = 100
const BARS = 24
/** Beyond these the list is long enough without bars. */
const MAX_SPARKS = 20
const SOON_MS = 5_000
const LATER_MS = 30_000

/** A secret that was just made, on its way to the page of its endpoint: it stands nowhere else. */
let carried: { id: string; secret: string } | null = null

export function Webhooks(): ReactElement {
  const { id } = useParams({ strict: false })
  const [url] = useUrl()
  const creation = usePanel('new')
  const list = useOp('event_subscriptions.list', {})
  const mayWatch = useMayManageAlerts()
  const [fresh, setFresh] = useState(carried)
  useEffect(() => {
    carried = null
  }, [])
  const [verify, setVerify] = useState(false)
  const navigate = useNavigate()
  useTitle({ text: 'Develop', to: '/develop/keys' }, 'Webhooks')
  const open = id ?? null
  return (
    <Page
      wide
      title="Develop"
      about="API keys, webhooks and the request log."
      actions={
        <>
          <Button icon="code" onClick={() => setVerify(true)}>
            Verify a signature
          </Button>
          {mayWatch && (
            <Button variant="primary" icon="plus" onClick={() => creation.open('item.created')}>
              Add endpoint
            </Button>
          )}
        </>
      }
    >
      <DevelopNav />
      <div className={classes(styles.hooks, ui.marginTop16, open ? styles.single : '', url['delivery'] ? styles.withDetail : '')}>
        <Card
          className={styles.list}
          title="Endpoints"
          aside={
            <span className={classes(ui.soft, ui.small)}>
              {list.data?.count ?? 0} of {MAX_ENDPOINTS}
            </span>
          }
          flush
        >
          <Loaded
            query={list}
            empty={({ event_subscriptions }) =>
              event_subscriptions.length === 0 && <NoEndpoint mayWatch={mayWatch} onNew={() => creation.open('item.created')} />
            }
          >
            {({ event_subscriptions }) => (
              <ul>
                {event_subscriptions.map((subscription, index) => (
                  <EndpointRow key={subscription.id} endpoint={subscription} isOn={subscription.id === open} hasBars={index < MAX_SPARKS} />
                ))}
              </ul>
            )}
          </Loaded>
        </Card>
        {open ? (
          <Endpoint
            key={open}
            id={open}
            mayWatch={mayWatch}
            secret={fresh?.id === open ? fresh.secret : null}
            onSecret={(secret) => setFresh({ id: open, secret })}
          />
        ) : (
          (list.data?.count ?? 0) > 0 && (
            <div className={styles.deliveryLog}>
              <Empty icon="hook" title="Choose an endpoint">
                Its deliveries, responses and scheduled retries are shown here.
              </Empty>
            </div>
          )
        )}
      </div>
      {url['new'] !== undefined && mayWatch && (
        <EndpointDialog
          eventType={url['new']}
          endpoint={null}
          onClose={creation.close}
          onDone={(subscription, secret) => {
            carried = secret ? { id: subscription, secret } : null
            void navigate({ to: '/develop/webhooks/$id', params: { id: subscription } })
          }}
        />
      )}
      {verify && <SignatureDialog onClose={() => setVerify(false)} />}
    </Page>
  )
}

function NoEndpoint({ mayWatch, onNew }: { mayWatch: boolean; onNew(): void }): ReactElement {
  return (
    <Empty
      icon="hook"
      title="No endpoints yet"
      actions={
        mayWatch && (
          <Button variant="primary" onClick={onNew}>
            Add endpoint
          </Button>
        )
      }
    >
      Events are sent as signed POST requests, with retries. Send a test event to see one.
    </Empty>
  )
}

const shortUrl = (address: string) => address.replace(/^https?:\/\//, '')

function EndpointRow({ endpoint, isOn, hasBars }: { endpoint: EventSubscription; isOn: boolean; hasBars: boolean }): ReactElement {
  const recent = useOp(
    'event_subscriptions.deliveries.list',
    { subscription_id: endpoint.id, limit: BARS },
    { enabled: hasBars, keep: true, refetchInterval: isOn ? SOON_MS : LATER_MS },
  )
  const deliveries = recent.data?.deliveries ?? []
  const dead = deliveries.filter(({ state }) => state === 'dead').length
  const last = deliveries[0]
  const isFailing = last ? last.state !== 'delivered' && last.attempts.length > 0 : endpoint.consecutive_failures > 0
  const outcome = isFailing
    ? 'failing'
    : last
      ? last.state === 'delivered'
        ? 'delivered'
        : 'waiting'
      : (endpoint.last_status ?? 'no deliveries')
  const words = !endpoint.is_active ? 'paused' : dead > 0 ? `${dead} undelivered` : outcome
  const tone = !endpoint.is_active || outcome === 'no deliveries' ? styles.inactive : dead > 0 || isFailing ? styles.failing : undefined
  return (
    <li>
      <Link
        to="/develop/webhooks/$id"
        params={{ id: endpoint.id }}
        className={isOn ? classes(styles.endpoint, styles.selected) : styles.endpoint}
        aria-current={isOn ? 'true' : undefined}
      >
        <span className={classes(ui.flexRow, ui.gap8)}>
          <i className={classes(styles.status, tone)} aria-hidden="true" />
          <b className={classes(ui.ellipsis, ui.grow)}>{shortUrl(endpoint.endpoint_url)}</b>
        </span>
        <span className={classes(ui.soft, ui.small, ui.ellipsis, ui.mono)}>{endpoint.event_type}</span>
        <span className={classes(ui.flexRow, ui.between, ui.marginTop4)}>
          <span className={styles.sparkline} aria-hidden="true">
            {deliveries.toReversed().map(({ id, state, attempts }) => (
              <i
                key={id}
                className={state === 'delivered' ? '' : state === 'dead' || attempts.length > 0 ? styles.failed : styles.pending}
              />
            ))}
          </span>
          <span className={classes(ui.tiny, ui.soft)}>{words}</span>
        </span>
      </Link>
    </li>
  )
}

interface EndpointParts {
  id: string
  mayWatch: boolean
  secret: string | null
  onSecret(secret: string): void
}

const STATES = [
  { value: 'all', text: 'All' },
  { value: 'delivered', text: 'Delivered' },
  { value: 'pending', text: 'Waiting' },
  { value: 'dead', text: 'Dead letters' },
] as const
type Shown = (typeof STATES)[number]['value']
const PAGE = 50

function Endpoint({ id, mayWatch, secret, onSecret }: EndpointParts): ReactElement {
  const [url, setUrl] = useUrl()
  const panel = usePanel('delivery')
  const shown = (STATES.find(({ value }) => value === url['status'])?.value ?? 'all') as Shown
  const subscriptionQuery = useOp('event_subscriptions.get', { subscription_id: id }, { refetchInterval: LATER_MS })
  const waits = (subscriptionQuery.data?.recent_deliveries ?? []).some(({ state }) => state === 'pending')
  const log = usePages(
    'event_subscriptions.deliveries.list',
    { subscription_id: id, ...(shown === 'all' ? {} : { state: shown }) },
    { size: PAGE, key: 'id', rows: ({ deliveries }) => deliveries, refetchInterval: waits ? SOON_MS : LATER_MS },
  )
  const deliveries = log.query.data?.rows ?? []
  if (subscriptionQuery.isError && !subscriptionQuery.data)
    return (
      <div className={styles.deliveryLog}>
        <Failed error={subscriptionQuery.error} retry={() => void subscriptionQuery.refetch()} />
      </div>
    )
  if (!subscriptionQuery.data)
    return (
      <div className={styles.deliveryLog}>
        <Skeleton />
      </div>
    )
  const endpoint = subscriptionQuery.data
  const chosen = deliveries.find((delivery) => delivery.id === url['delivery']) ?? null
  return (
    <>
      <div className={classes(styles.deliveryLog, ui.flexColumn, ui.gap16)}>
        {secret && (
          <Card className={secretStyles.shownOnce}>
            <b>Copy the signing secret now.</b>
            <p className={classes(ui.soft, ui.small)}>It signs every delivery and cannot be shown again.</p>
            <div className={ui.marginTop8}>
              <Secret text={secret} label="Signing secret" />
            </div>
          </Card>
        )}
        <section className={cardStyles.card}>
          <EndpointHead endpoint={endpoint} mayWatch={mayWatch} onSecret={onSecret} />
          <div className={classes(ui.flexRow, ui.between, ui.wrap, styles.filterBar)}>
            <Segmented
              label="Deliveries"
              value={shown}
              onChange={(next) => setUrl({ status: next === 'all' ? null : next }, true)}
              options={STATES}
            />
            {shown === 'dead' && mayWatch && <ReplayAll deliveries={deliveries} />}
          </div>
          <Loaded
            query={log.query}
            empty={({ rows }) =>
              rows.length === 0 && (
                <Empty icon="hook" title={shown === 'all' ? 'No deliveries yet' : 'No matching deliveries'}>
                  {shown === 'all' && `Waiting for ${endpoint.event_type}. Test events are not listed.`}
                </Empty>
              )
            }
          >
            {({ rows }) => (
              <>
                <DeliveryTable deliveries={rows} chosen={chosen?.id ?? null} onChoose={panel.open} />
                <More pages={log} />
              </>
            )}
          </Loaded>
        </section>
      </div>
      {chosen && <DeliveryPanel delivery={chosen} mayReplay={mayWatch} onClose={panel.close} />}
    </>
  )
}

interface HeadParts {
  endpoint: EventSubscription
  mayWatch: boolean
  onSecret(secret: string): void
}

function EndpointHead({ endpoint, mayWatch, onSecret }: HeadParts): ReactElement {
  const who = useWho()
  const mayChange = mayWatch && (who.isAdmin || endpoint.created_by === who.userId)
  const [edit, setEdit] = useState(false)
  const change = useAct('event_subscriptions.update', ['event_subscriptions'])
  const send = useAct('event_subscriptions.test', ['event_subscriptions'])
  const filters = Object.entries(endpoint.filter_config)
  const pause = () =>
    change.mutate(
      { subscription_id: endpoint.id, active: !endpoint.is_active },
      { onSuccess: ({ is_active }) => void toast(is_active ? 'Endpoint resumed' : 'Endpoint paused') },
    )
  const rotate = () =>
    change.mutate(
      { subscription_id: endpoint.id, rotate_secret: true },
      {
        onSuccess: ({ signing_secret, previous_secret_until }) => {
          if (signing_secret) onSecret(signing_secret)
          toast(`Deliveries are signed with both secrets until ${dateTime(previous_secret_until)}`)
        },
      },
    )
  return (
    <>
      <div className={classes(cardStyles.header, styles.header)}>
        <LinkButton size="s" variant="quiet" icon="right" label="All endpoints" to="/develop/webhooks" />
        <div className={ui.grow}>
          <h2 className={ui.ellipsis}>{shortUrl(endpoint.endpoint_url)}</h2>
          <div className={classes(ui.soft, ui.small, ui.breakAnywhere)}>
            <span className={ui.mono}>{endpoint.event_type}</span>
            {filters.length > 0 && ', where '}
            <span className={ui.mono}>{filters.map(([key, wanted]) => `${key} = ${[wanted].flat().join(' or ')}`).join(', ')}</span>
            {endpoint.header_names.length > 0 && `, with ${endpoint.header_names.join(', ')}`}
          </div>
          {endpoint.description && <div className={classes(ui.soft, ui.small)}>{endpoint.description}</div>}
        </div>
        {!endpoint.is_active && <Badge tone="warn">paused</Badge>}
        {mayChange && (
          <>
            <Button size="s" icon="bolt" busy={send.isPending} onClick={() => send.mutate({ subscription_id: endpoint.id })}>
              Send test
            </Button>
            <EndpointMenu endpoint={endpoint} onEdit={() => setEdit(true)} onPause={pause} onRotate={rotate} />
          </>
        )}
      </div>
      <div aria-live="polite">
        {send.data && (
          <Note tone={send.data.delivered ? 'ok' : 'bad'} icon={send.data.delivered ? 'check' : 'warn'}>
            {send.data.delivered ? `Test delivered: ${send.data.http_status}.` : `Test failed: ${send.data.error}.`}{' '}
            <span className={classes(ui.mono, ui.small)}>evt {shortId(send.data.event_id)}</span>
          </Note>
        )}
      </div>
      <FormProblem error={change.error ?? send.error} />
      {edit && (
        <EndpointDialog
          eventType={endpoint.event_type}
          endpoint={endpoint}
          onClose={() => setEdit(false)}
          onDone={() => {
            setEdit(false)
            toast('Endpoint updated')
          }}
        />
      )}
    </>
  )
}

interface MenuParts {
  endpoint: EventSubscription
  onEdit(): void
  onPause(): void
  onRotate(): void
}

function EndpointMenu({ endpoint, onEdit, onPause, onRotate }: MenuParts): ReactElement {
  const navigate = useNavigate()
  const remove = () => {
    deleteLater({
      operation: 'event_subscriptions.delete',
      input: { subscription_id: endpoint.id },
      name: shortUrl(endpoint.endpoint_url),
      touches: ['event_subscriptions'],
    })
    void navigate({ to: '/develop/webhooks' })
  }
  return (
    <Menu
      label="Endpoint"
      align="end"
      button={(trigger) => (
        <button
          {...trigger}
          type="button"
          className={classes(buttonStyles.button, buttonStyles.quiet, buttonStyles.iconOnly, buttonStyles.small)}
          aria-label="More actions"
        >
          <Icon name="dots" />
        </button>
      )}
    >
      <MenuItem icon="filter" onClick={onEdit}>
        Edit endpoint
      </MenuItem>
      <MenuItem icon={endpoint.is_active ? 'min' : 'play'} onClick={onPause}>
        {endpoint.is_active ? 'Pause' : 'Resume'}
      </MenuItem>
      <MenuItem icon="key" onClick={onRotate}>
        Rotate secret
      </MenuItem>
      <MenuItem icon="trash" onClick={remove}>
        Delete endpoint
      </MenuItem>
    </Menu>
  )
}

interface TableParts {
  deliveries: readonly WebhookDelivery[]
  chosen: string | null
  onChoose(id: string): void
}

function DeliveryTable({ deliveries, chosen, onChoose }: TableParts): ReactElement {
  return (
    <table className={classes(tableStyles.table, styles.deliveries)}>
      <thead>
        <tr>
          <th>Response</th>
          <th>Event</th>
          <th className={ui.hideOnPhone}>Attempts</th>
          <th className={classes(tableStyles.number, ui.hideOnPhone)}>Duration</th>
          <th className={tableStyles.number}>Time (UTC)</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => {
          const { tone, text } = answerOf(delivery)
          return (
            <tr key={delivery.id} className={delivery.id === chosen ? tableStyles.selected : ''}>
              <td>
                <Badge tone={tone}>{text}</Badge>
              </td>
              <td>
                <button type="button" className={ui.asLink} aria-pressed={delivery.id === chosen} onClick={() => onChoose(delivery.id)}>
                  <b className={ui.mono}>{delivery.event_type}</b>
                </button>
                <div className={classes(ui.mono, ui.faint, ui.tiny)}>evt {shortId(delivery.event_id)}</div>
              </td>
              <td className={classes(ui.hideOnPhone, ui.soft)}>{delivery.attempts.length}</td>
              <td className={classes(tableStyles.number, ui.soft, ui.hideOnPhone)}>{tookOf(delivery)}</td>
              <td className={classes(tableStyles.number, ui.soft)}>{dateTimeShort(delivery.created_at)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function ReplayAll({ deliveries }: { deliveries: readonly WebhookDelivery[] }): ReactElement | null {
  const [busy, setBusy] = useState(false)
  if (deliveries.length === 0) return null
  const run = async () => {
    setBusy(true)
    let sent = 0
    try {
      for (const { id } of deliveries) {
        await call('event_subscriptions.deliveries.retry', { delivery_id: id })
        sent++
      }
      toast(`${sent} replayed`)
    } catch (error) {
      toast(`${sent} of ${deliveries.length} replayed, then: ${error instanceof Error ? error.message : ''}`, 'bad')
    }
    await touch(queries, ['event_subscriptions'])
    setBusy(false)
  }
  return (
    <Button size="s" icon="retry" busy={busy} onClick={() => void run()}>
      Replay all {deliveries.length}
    </Button>
  )
}
