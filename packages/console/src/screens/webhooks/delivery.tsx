/** One delivery: every attempt, what is planned, what was answered, and the shape of what was sent. */
import { useState, type ReactElement } from 'react'
import type { WebhookDelivery } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { date, dateTime, shortId } from '../../ui/format.ts'
import { Badge, Button, CopyButton, Segmented, type Tone } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { exampleOf, useEventTypes } from './event-types.ts'
import { classes } from '../../ui/classes.ts'
import styles from './webhooks.module.css'
import cardStyles from '../../ui/card.module.css'
import codeStyles from '../../ui/code.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const SECOND_MS = 1_000

export function answerOf({ state, attempts }: WebhookDelivery): { tone: Tone; text: string } {
  const last = attempts.at(-1)
  if (state === 'delivered') return { tone: 'ok', text: String(last?.http_status ?? 'delivered') }
  if (!last) return state === 'dead' ? { tone: 'bad', text: 'undelivered' } : { tone: '', text: state === 'held' ? 'held' : 'waiting' }
  return { tone: 'bad', text: String(last.http_status ?? 'no response') }
}

const took = (ms: number) => (ms >= SECOND_MS ? `${(ms / SECOND_MS).toFixed(1)} s` : `${ms} ms`)
export const tookOf = ({ attempts }: WebhookDelivery) => (attempts.length > 0 ? took(attempts.at(-1)!.duration_ms) : '–')

const timeOf = (iso: string) => iso.slice(11, 19)
const DAY_MS = 86_400_000
const plannedAt = (iso: string) =>
  Date.parse(iso) - Date.now() < DAY_MS ? `about ${timeOf(iso).slice(0, 5)} UTC` : `${date(iso)}, ${timeOf(iso).slice(0, 5)} UTC`

function headlineOf(delivery: WebhookDelivery): string {
  const last = delivery.attempts.at(-1)
  if (delivery.state === 'delivered') return 'Delivered'
  if (delivery.state === 'held') return 'Held while the endpoint is paused'
  if (!last) return delivery.state === 'dead' ? 'Undelivered' : 'Queued for the first attempt'
  return last.http_status ? `${last.http_status} from the endpoint` : 'No response from the endpoint'
}

interface PanelParts {
  delivery: WebhookDelivery
  mayReplay: boolean
  onClose(): void
}

export function DeliveryPanel({ delivery, mayReplay, onClose }: PanelParts): ReactElement {
  const retry = useAct('event_subscriptions.deliveries.retry', ['event_subscriptions'])
  const canReplay = mayReplay && delivery.state !== 'delivered' && delivery.attempts.length > 0
  return (
    <section className={classes(cardStyles.card, styles.detail)} aria-label="Delivery">
      <div className={cardStyles.header}>
        <div className={ui.grow}>
          <h2>{headlineOf(delivery)}</h2>
          <div className={classes(ui.soft, ui.small, ui.mono, ui.ellipsis)}>
            evt {shortId(delivery.event_id)}, {delivery.event_type}
          </div>
        </div>
        {canReplay && (
          <Button
            variant="primary"
            size="s"
            icon="retry"
            busy={retry.isPending}
            onClick={() => retry.mutate({ delivery_id: delivery.id }, { onSuccess: () => void toast('Replay sent') })}
          >
            Replay
          </Button>
        )}
        <Button size="s" variant="quiet" icon="x" label="Close the delivery" onClick={onClose} />
      </div>
      <div className={cardStyles.body}>
        <FormProblem error={retry.error} />
        <ol className={styles.attempts}>
          {delivery.attempts.map((attempt, index) => {
            const isTaken = attempt.http_status !== null && attempt.http_status < 300
            return (
              <li key={attempt.id} className={isTaken ? styles.delivered : styles.failing}>
                <b>Attempt {index + 1}</b>
                <span className={ui.soft} title={dateTime(attempt.at)}>
                  {timeOf(attempt.at)}, {took(attempt.duration_ms)}
                </span>
                <Badge tone={isTaken ? 'ok' : 'bad'}>{attempt.http_status ?? 'no response'}</Badge>
              </li>
            )
          })}
          {delivery.next_attempt_at && (
            <li className={styles.planned}>
              <b>Attempt {delivery.attempts.length + 1}</b>
              <span className={ui.soft}>{plannedAt(delivery.next_attempt_at)}</span>
              <Badge>scheduled</Badge>
            </li>
          )}
        </ol>
        {delivery.reason && <p className={classes(fieldStyles.help, styles.failing)}>{delivery.reason}</p>}
        <Content delivery={delivery} />
        <p className={fieldStyles.help}>A replay has the same event ID, so endpoints that deduplicate by ID process it once.</p>
      </div>
    </section>
  )
}

function Content({ delivery }: { delivery: WebhookDelivery }): ReactElement {
  const [shown, setShown] = useState<'answer' | 'shape' | 'ids'>('answer')
  const types = useEventTypes()
  const row = types.data?.event_types.find(({ type }) => type === delivery.event_type)
  const last = delivery.attempts.at(-1)
  const text = {
    answer: last ? last.response_start || last.error || 'Empty response' : 'No attempts yet',
    shape: row ? JSON.stringify(exampleOf(row), null, 2) : '…',
    ids: JSON.stringify(
      { delivery_id: delivery.id, event_id: delivery.event_id, attempt_ids: delivery.attempts.map(({ id }) => id) },
      null,
      2,
    ),
  }[shown]
  return (
    <>
      <div className={classes(ui.flexRow, ui.between, ui.marginTop12, ui.wrap)}>
        <Segmented
          label="What to show"
          value={shown}
          onChange={setShown}
          options={[
            { value: 'answer', text: 'Response' },
            { value: 'shape', text: 'Body' },
            { value: 'ids', text: 'IDs' },
          ]}
        />
        <CopyButton text={text} />
      </div>
      <pre className={classes(codeStyles.code, ui.marginTop8, styles.code)} tabIndex={0} aria-label="Content">
        {text}
      </pre>
    </>
  )
}
