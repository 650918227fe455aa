/** One rule: what it says, what it found, what it would say of the newest items. */
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { AlertRule } from '../../api/contract.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { useAct, useOp, usePages } from '../../api/query.ts'
import { areaOf } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { area as areaText, date, dateTime, value } from '../../ui/format.ts'
import { Badge, Button, Card, Choice, Facts, LinkButton, Note, Page, Toggle } from '../../ui/kit.ts'
import { Empty, Failed, FormProblem, Loaded, More, Skeleton } from '../../ui/states.tsx'
import { EventList } from './alerts.tsx'
import { Trial, useSamples } from './trial.tsx'
import { limitWords, quietWords, useCollections } from './rule-text.ts'
import { useMayManageAlerts } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import styles from './alerts.module.css'
import ui from '../../ui/ui.module.css'

const PAGE = 20

export function Alert(): ReactElement {
  const { id } = useParams({ from: '/inside/alerts/$id' })
  const ruleQuery = useOp('alerts.rule.get', { rule_id: id })
  const rule = ruleQuery.data?.alert_rule
  useTitle({ text: 'Monitor', to: '/alerts' }, rule?.name ?? 'Alert')
  if (ruleQuery.isError && !rule) return <Failed error={ruleQuery.error} retry={() => void ruleQuery.refetch()} />
  if (!rule) return <Skeleton rows={6} />
  return <RulePage key={id} rule={rule} />
}

function RulePage({ rule }: { rule: AlertRule }): ReactElement {
  const mayWatch = useMayManageAlerts()
  const events = usePages('alerts.events.list', { rule_id: rule.id }, { size: PAGE, key: 'id', rows: ({ alert_events }) => alert_events })
  const change = useAct('alerts.update_rule', ['alerts'])
  const { samples, query } = useSamples(rule.collection_id ?? '')
  return (
    <Page
      title={rule.name}
      about={rule.description ?? undefined}
      actions={
        mayWatch && (
          <>
            <DeleteRule rule={rule} />
            <LinkButton to="/alerts/$id/edit" params={{ id: rule.id }}>
              Change
            </LinkButton>
            <label className={classes(ui.flexRow, ui.gap8, styles.switchRow)}>
              <Toggle
                on={rule.active}
                label="Rule is on"
                disabled={change.isPending}
                onChange={(active) => change.mutate({ rule_id: rule.id, active })}
              />
              <span>{rule.active ? 'On' : 'Off'}</span>
            </label>
          </>
        )
      }
    >
      <FormProblem error={change.error} />
      {rule.last_error && (
        <Note tone="warn" icon="warn">
          <b>Evaluation failed</b> on {dateTime(rule.last_error_at)}: {rule.last_error}
        </Note>
      )}
      <div className={classes(ui.grid, ui.halves, ui.marginTop16)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Terms rule={rule} />
          <Card title="History" flush>
            <Loaded
              query={events.query}
              empty={({ rows }) =>
                rows.length === 0 && (
                  <Empty icon="bell" title="Not triggered yet">
                    {rule.active ? 'The rule is evaluated on the next new item.' : 'The rule is off.'}
                  </Empty>
                )
              }
            >
              {({ rows }) => (
                <>
                  <EventList events={rows} />
                  <More pages={events} />
                </>
              )}
            </Loaded>
          </Card>
        </div>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Trial samples={samples} query={query} terms={rule} isComplete />
          <TestOne rule={rule} samples={samples} />
        </div>
      </div>
    </Page>
  )
}

function Terms({ rule }: { rule: AlertRule }): ReactElement {
  const collections = useCollections()
  const name = collections.data?.collections.find(({ id }) => id === rule.collection_id)?.title
  const mapping = Object.entries(rule.band_mapping)
  return (
    <Card title="Rule" aside={<Badge tone={rule.active ? 'ok' : ''}>{rule.active ? 'on' : 'off'}</Badge>}>
      <Facts
        rows={[
          [
            'Evaluates',
            `${rule.event_types.includes('item.updated') ? 'new and changed items' : 'new items'} of ` +
              (rule.collection_id ? (name ?? 'a collection') : 'all collections'),
          ],
          [
            'Mean of',
            <span key="expression" className={classes(ui.mono, ui.breakAnywhere)}>
              {rule.expression}
            </span>,
          ],
          ...(mapping.length > 0
            ? [
                [
                  'Bands',
                  <span key="bands" className={ui.mono}>
                    {mapping.map(([band, index]) => `${band} = b${index}`).join(', ')}
                  </span>,
                ] as const,
              ]
            : []),
          ['Triggers when', limitWords(rule)],
          ['Area', rule.aoi_geometry ? areaText(areaOf(rule.aoi_geometry)) : 'the whole item'],
          ['Notifies', rule.notification_channels.map((channel) => (channel === 'in_app' ? 'the inbox' : 'webhooks')).join(' and ')],
          ['How often', quietWords(rule.cooldown_minutes)],
          ['Last triggered', rule.last_triggered_at ? dateTime(rule.last_triggered_at) : 'never'],
          ['Created', date(rule.created_at)],
        ]}
      />
    </Card>
  )
}

/** The saved rule on one item, as the service would decide it now. */
function TestOne({ rule, samples }: { rule: AlertRule; samples: readonly { id: string; name: string }[] }): ReactElement | null {
  const [chosen, setChosen] = useState('')
  const test = useAct('alerts.test_rule')
  if (samples.length === 0) return null
  const id = chosen || samples[0]!.id
  return (
    <Card title="Test the rule on an item">
      <div className={classes(ui.flexRow, ui.gap8, styles.alignedRow, ui.wrap)}>
        <Choice
          label="Item"
          className={ui.grow}
          value={id}
          onChange={(event) => setChosen(event.target.value)}
          options={samples.map((sample) => ({ value: sample.id, text: sample.name }))}
        />
        <Button icon="play" busy={test.isPending} onClick={() => test.mutate({ rule_id: rule.id, item_id: id })}>
          Test
        </Button>
      </div>
      <div aria-live="polite">
        {test.data && (
          <p className={ui.marginTop8}>
            <b className={ui.numeric}>{value(test.data.computed_value)}</b>{' '}
            {`${test.data.would_trigger ? 'is' : 'is not'} ${limitWords(rule)}: `}
            <Badge tone={test.data.would_trigger ? 'bad' : ''}>{test.data.would_trigger ? 'would trigger' : 'no alert'}</Badge>
          </p>
        )}
      </div>
      <FormProblem error={test.error} />
    </Card>
  )
}

function DeleteRule({ rule }: { rule: AlertRule }): ReactElement {
  const navigate = useNavigate()
  const start = () => {
    deleteLater({ operation: 'alerts.delete_rule', input: { rule_id: rule.id }, name: rule.name, touches: ['alerts'] })
    void navigate({ to: '/alerts' })
  }
  return (
    <Button variant="danger" icon="trash" onClick={start}>
      Delete
    </Button>
  )
}
