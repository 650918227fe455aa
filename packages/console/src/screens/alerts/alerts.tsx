/** What is watched for, and what was found. */
import { Link } from '@tanstack/react-router'
import { useMemo, type ReactElement } from 'react'
import type { AlertEvent, AlertRule } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { useMayManageAlerts } from '../../state/who.ts'
import { MonitorNav } from '../../parts/monitor-nav.tsx'
import { ago, dateTime, localTime, value } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, LinkButton, Page, Segmented, Toggle } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { useListKeys } from '../../state/list-keys.ts'
import { limitWords, RECIPES, useCollections } from './rule-text.ts'
import { classes } from '../../ui/classes.ts'
import newsListStyles from '../../parts/news-list.module.css'
import styles from './alerts.module.css'
import cardStyles from '../../ui/card.module.css'
import tableStyles from '../../ui/table.module.css'
import ui from '../../ui/ui.module.css'

const MAX_EVENTS = 200

export function Alerts(): ReactElement {
  const rules = useOp('alerts.rules.list', {})
  const events = useOp('alerts.events.list', { limit: MAX_EVENTS })
  const mayWatch = useMayManageAlerts()
  useTitle('Monitor', 'Alerts')
  return (
    <Page
      title="Monitor"
      about="Rules evaluate each new item and notify you when a value crosses your threshold."
      actions={
        mayWatch && (
          <LinkButton variant="primary" icon="plus" to="/alerts/new">
            New alert
          </LinkButton>
        )
      }
    >
      <MonitorNav />
      <div className={classes(ui.grid, ui.twoToOne, ui.marginTop16)}>
        <Card title="Rules" aside={rules.data && <span className={classes(ui.soft, ui.small)}>{rules.data.count}</span>} flush>
          <Loaded query={rules} empty={({ alert_rules }) => alert_rules.length === 0 && <Recipes mayWatch={mayWatch} />}>
            {({ alert_rules }) => <RuleTable rules={alert_rules} events={events.data?.alert_events ?? []} mayWatch={mayWatch} />}
          </Loaded>
        </Card>
        <LatestEvents rules={rules.data?.alert_rules ?? []} />
      </div>
    </Page>
  )
}

function Recipes({ mayWatch }: { mayWatch: boolean }): ReactElement {
  if (!mayWatch)
    return (
      <Empty icon="bell" title="No alert rules yet">
        A project editor can create the first rule.
      </Empty>
    )
  return (
    <div className={styles.recipes}>
      <Empty icon="bell" title="No alert rules yet">
        Start from one of these and test it on existing items.
      </Empty>
      <ul className={classes(ui.grid, ui.threeColumns)}>
        {RECIPES.map(({ id, title, about }) => (
          <li key={id}>
            <Link className={classes(cardStyles.card, styles.recipe)} to="/alerts/new" search={{ recipe: id }}>
              <b>{title}</b>
              <span className={classes(ui.soft, ui.small)}>{about}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface RuleTableParts {
  rules: readonly AlertRule[]
  events: readonly AlertEvent[]
  mayWatch: boolean
}

function RuleTable({ rules, events, mayWatch }: RuleTableParts): ReactElement {
  const collections = useCollections()
  const change = useAct('alerts.update_rule', ['alerts'])
  const names = new Map((collections.data?.collections ?? []).map(({ id, title }) => [id, title]))
  const byRule = useMemo(() => Map.groupBy(events, ({ rule_id }) => rule_id), [events])
  return (
    <>
      <table className={classes(tableStyles.table, styles.rules)}>
        <thead>
          <tr>
            <th>Rule</th>
            <th className={ui.hideOnPhone}>Watches</th>
            <th className={classes(tableStyles.number, ui.hideOnPhone)}>Last value</th>
            <th className={ui.hideOnPhone}>Last triggered</th>
            <th className={tableStyles.number}>Open</th>
            <th className={tableStyles.number}>On</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => {
            const fired = byRule.get(rule.id) ?? []
            const open = fired.filter(({ acknowledged }) => !acknowledged).length
            return (
              <tr key={rule.id}>
                <td>
                  <Link to="/alerts/$id" params={{ id: rule.id }}>
                    <b>{rule.name}</b>
                  </Link>
                  <div className={classes(ui.soft, ui.small, ui.breakAnywhere)}>
                    <span className={ui.mono}>{rule.expression}</span> {limitWords(rule)}
                  </div>
                  {rule.last_error && (
                    <div className={classes(ui.danger, ui.small)}>
                      <Icon name="warn" size={12} /> {rule.last_error}
                    </div>
                  )}
                </td>
                <td className={ui.hideOnPhone}>{rule.collection_id ? (names.get(rule.collection_id) ?? 'a collection') : 'everything'}</td>
                <td className={classes(tableStyles.number, ui.numeric, ui.hideOnPhone)}>
                  {fired[0] ? value(fired[0].computed_value) : '–'}
                </td>
                <td
                  className={classes(ui.hideOnPhone, ui.soft)}
                  title={rule.last_triggered_at ? localTime(rule.last_triggered_at) : undefined}
                >
                  {rule.last_triggered_at ? dateTime(rule.last_triggered_at) : 'never'}
                </td>
                <td className={tableStyles.number}>{open > 0 ? <Badge tone="warn">{open}</Badge> : <span className={ui.soft}>0</span>}</td>
                <td className={tableStyles.number}>
                  {mayWatch ? (
                    <Toggle
                      on={rule.active}
                      label={`${rule.name} watches`}
                      disabled={change.isPending && change.variables.rule_id === rule.id}
                      onChange={(active) => change.mutate({ rule_id: rule.id, active })}
                    />
                  ) : (
                    <Badge tone={rule.active ? 'ok' : ''}>{rule.active ? 'on' : 'off'}</Badge>
                  )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <FormProblem error={change.error} />
    </>
  )
}

const SHOWN = 20

function LatestEvents({ rules }: { rules: readonly AlertRule[] }): ReactElement {
  const [url, setUrl] = useUrl()
  const isOpen = url['show'] !== 'all'
  const events = useOp('alerts.events.list', { limit: SHOWN, ...(isOpen ? { acknowledged: false } : {}) }, { keep: true })
  return (
    <Card
      title="Alerts"
      aside={
        <Segmented
          label="Which alerts"
          value={isOpen ? 'open' : 'all'}
          onChange={(next) => setUrl({ show: next === 'all' ? 'all' : null }, true)}
          options={[
            { value: 'open', text: 'Open' },
            { value: 'all', text: 'All' },
          ]}
        />
      }
      flush
    >
      <Loaded
        query={events}
        empty={({ alert_events }) =>
          alert_events.length === 0 && (
            <Empty icon="check" title={isOpen ? 'No open alerts' : 'No alerts yet'}>
              {isOpen ? 'Acknowledged alerts are under All.' : 'Alerts appear here as soon as a rule triggers.'}
            </Empty>
          )
        }
      >
        {({ alert_events }) => <EventList events={alert_events} nameOf={(id) => rules.find((rule) => rule.id === id)?.name ?? 'Alert'} />}
      </Loaded>
    </Card>
  )
}

interface EventListParts {
  events: readonly AlertEvent[]
  nameOf?(ruleId: string): string
}

/** Alerts that fired, newest first. J and K go through them, E acknowledges. */
export function EventList({ events, nameOf }: EventListParts): ReactElement {
  const acknowledge = useAct('alerts.acknowledge_event', ['alerts'])
  const mayWatch = useMayManageAlerts()
  const act = (id: string) => acknowledge.mutate({ event_id: id })
  const keys = useListKeys({ e: (id) => mayWatch && act(id) })
  return (
    <>
      <ul className={newsListStyles.news} {...keys}>
        {events.map((event) => (
          <li key={event.id} data-id={event.id} tabIndex={0} className={event.acknowledged ? newsListStyles.seen : ''}>
            <span className={classes(newsListStyles.mark, event.acknowledged ? '' : newsListStyles.warning)}>
              <Icon name={event.acknowledged ? 'check' : 'bell'} />
            </span>
            <div className={ui.grow}>
              {nameOf ? (
                <Link to="/alerts/$id" params={{ id: event.rule_id }}>
                  <b>{nameOf(event.rule_id)}</b>
                </Link>
              ) : (
                <b className={ui.numeric}>{value(event.computed_value)}</b>
              )}
              <div className={classes(ui.soft, ui.small)}>
                {nameOf && <span className={ui.numeric}>{value(event.computed_value)} on </span>}
                <ItemLink id={event.item_id} />
              </div>
              <div className={classes(ui.faint, ui.tiny)} title={localTime(event.triggered_at)}>
                {dateTime(event.triggered_at)}
                {event.acknowledged && `, acknowledged ${ago(event.acknowledged_at!)}`}
              </div>
            </div>
            {!event.acknowledged && mayWatch && (
              <Button
                size="s"
                busy={acknowledge.isPending && acknowledge.variables.event_id === event.id}
                title="Acknowledge (E)"
                onClick={() => act(event.id)}
              >
                Acknowledge
              </Button>
            )}
          </li>
        ))}
      </ul>
      <FormProblem error={acknowledge.error} />
    </>
  )
}

function ItemLink({ id }: { id: string }): ReactElement {
  const item = useOp('items.get', { item_id: id }, { staleTime: 300_000 })
  if (item.isError) return <>a deleted item</>
  return (
    <Link to="/view/$item" params={{ item: id }}>
      {item.data?.item.name ?? 'an item'}
    </Link>
  )
}
