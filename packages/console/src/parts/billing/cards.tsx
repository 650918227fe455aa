import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { call } from '../../api/client.ts'
import { isProblem } from '../../api/problem.ts'
import { touch, useAct, useOp } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { aud, count, dateTime } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Button, Card, Choice, Facts, Field, Toggle } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './cards.module.css'
import ui from '../../ui/ui.module.css'

/** The sandbox processor's test cards: what each does is said. */
const TEST_CARDS = [
  { value: 'pm_card_visa', text: 'Visa 4242: succeeds' },
  { value: 'pm_card_mastercard', text: 'Mastercard 4444: succeeds' },
  { value: 'pm_card_threeDSecure2Required', text: 'Visa 3220: requires confirmation (3-D Secure)' },
  { value: 'pm_card_visa_chargeDeclined', text: 'Visa 0002: is declined' },
]

export function CardList(): ReactElement {
  const cards = useOp('payment_methods.list', {})
  const setDefault = useAct('payment_methods.set_default', ['payment_methods', 'billing'])
  const detach = useAct('payment_methods.detach', ['payment_methods', 'billing'])
  return (
    <Loaded
      query={cards}
      rows={1}
      empty={({ payment_methods }) =>
        payment_methods.length === 0 && <p className={ui.soft}>No card yet. Add one to buy credits or pay by card.</p>
      }
    >
      {({ payment_methods }) => (
        <div className={classes(ui.flexColumn, ui.gap12)}>
          {payment_methods.map((card) => (
            <div key={card.id} className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
              <span className={styles.cardIcon}>
                <Icon name="card" />
              </span>
              <span className={ui.grow}>
                <b>•••• {card.last4}</b> <span className={ui.soft}>{card.brand}</span>
                <br />
                <span className={classes(ui.soft, ui.small)}>
                  expires {String(card.exp_month).padStart(2, '0')}/{String(card.exp_year).slice(-2)}
                </span>
              </span>
              {card.is_default ? (
                <Badge>default</Badge>
              ) : (
                <Button size="s" onClick={() => setDefault.mutate({ payment_method_row_id: card.id })}>
                  Make default
                </Button>
              )}
              <Button
                size="s"
                variant="danger"
                onClick={() => detach.mutate({ payment_method_row_id: card.id }, { onError: (error) => void toast(error.message, 'bad') })}
              >
                Remove
              </Button>
            </div>
          ))}
        </div>
      )}
    </Loaded>
  )
}

export function AddCard({ onClose }: { onClose(): void }): ReactElement {
  const client = useQueryClient()
  const [card, setCard] = useState(TEST_CARDS[0]!.value)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const add = async () => {
    setBusy(true)
    setError(null)
    try {
      await call('payment_methods.create_setup_intent', {})
      const { id } = await call('payment_methods.attach', { payment_method_id: card })
      await call('payment_methods.set_default', { payment_method_row_id: id })
      await touch(client, ['payment_methods', 'billing'])
      toast('Card saved')
      onClose()
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="Add a card" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <p className={ui.soft}>
          This service takes test cards of its sandbox processor: nothing is charged anywhere. With a real processor its own form stands
          here, and no number passes through us.
        </p>
        <Choice label="Test card" value={card} onChange={(event) => setCard(event.target.value)} options={TEST_CARDS} />
        <FormProblem error={error} />
        {isProblem(error, 'billing-not-configured') && <p className={ui.soft}>This service does not accept cards.</p>}
        <Button type="submit" variant="primary" busy={busy}>
          Save card
        </Button>
      </form>
    </Dialog>
  )
}

export function AutoTopup(): ReactElement {
  const setting = useOp('billing.auto_topup.get', {})
  const set = useAct('billing.set_auto_topup', ['billing'])
  const [editing, setEditing] = useState(false)
  const [threshold, setThreshold] = useState('20000')
  const [amount, setAmount] = useState('100000')
  const [cap, setCap] = useState('5000')
  const data = setting.data
  const save = (enabled: boolean) =>
    set.mutate(
      {
        enabled,
        threshold_credits: editing ? Number(threshold) : (data?.threshold_credits ?? Number(threshold)),
        topup_amount_credits: editing ? Number(amount) : (data?.topup_amount_credits ?? Number(amount)),
        daily_charge_cap_aud: editing ? Number(cap) : (data?.daily_charge_cap_aud ?? Number(cap)),
      },
      { onSuccess: () => setEditing(false) },
    )
  return (
    <Card
      title="Automatic top-up"
      aside={data && <Toggle label="Automatic top-up" on={data.enabled} onChange={save} disabled={set.isPending} />}
    >
      <Loaded query={setting} rows={2}>
        {(loaded) =>
          editing ? (
            <form
              className={classes(ui.flexColumn, ui.gap12)}
              onSubmit={(event) => {
                event.preventDefault()
                save(true)
              }}
            >
              <Field
                label="When credits fall below"
                inputMode="numeric"
                value={threshold}
                onChange={(event) => setThreshold(event.target.value)}
              />
              <Field label="Add credits" inputMode="numeric" value={amount} onChange={(event) => setAmount(event.target.value)} />
              <Field label="Daily limit (A$)" inputMode="numeric" value={cap} onChange={(event) => setCap(event.target.value)} />
              <Button type="submit" variant="primary" busy={set.isPending}>
                Turn on
              </Button>
            </form>
          ) : (
            <>
              {loaded.threshold_credits !== null && loaded.topup_amount_credits !== null ? (
                <p>
                  When fewer than <b>{count(loaded.threshold_credits)}</b> credits are available, add{' '}
                  <b>{count(loaded.topup_amount_credits)}</b>.
                </p>
              ) : (
                <p className={ui.soft}>Off. You can’t order when you run out of credits.</p>
              )}
              <div className={ui.marginTop8}>
                <Facts
                  rows={[
                    ['Daily limit', loaded.daily_charge_cap_aud === null ? '–' : aud(loaded.daily_charge_cap_aud)],
                    ['Charged today', aud(loaded.charged_today_aud)],
                    ['Last attempt', loaded.last_attempt_at ? dateTime(loaded.last_attempt_at) : '–'],
                  ]}
                />
              </div>
              <Button
                size="s"
                className={ui.marginTop12}
                onClick={() => {
                  setThreshold(String(loaded.threshold_credits ?? 20_000))
                  setAmount(String(loaded.topup_amount_credits ?? 100_000))
                  setCap(String(loaded.daily_charge_cap_aud ?? 5_000))
                  setEditing(true)
                }}
              >
                Change
              </Button>
            </>
          )
        }
      </Loaded>
      <FormProblem error={set.error} />
    </Card>
  )
}
