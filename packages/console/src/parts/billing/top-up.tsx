/** Adding credits: what will be charged and granted is said first; the bank is asked where it wants to be; one key, one charge. */
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { call, route } from '../../api/client.ts'
import type { Output } from '../../api/contract.ts'
import { ProblemError, isProblem } from '../../api/problem.ts'
import { touch, useOp } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { aud, count } from '../../ui/format.ts'
import { Button, Facts, Field, Note } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { AddCard } from './cards.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './top-up.module.css'
import chipStyles from '../../ui/chip.module.css'
import ui from '../../ui/ui.module.css'

const AMOUNTS = [100, 500, 1_000, 5_000, 25_000]
const BONUS_FROM_AUD = 20_000
const BONUS = 0.05

export function AddCredits({ onClose, missing }: { onClose(): void; missing?: number }): ReactElement {
  const client = useQueryClient()
  const cards = useOp('payment_methods.list', {})
  const [amount, setAmount] = useState(String(missing ? Math.max(100, Math.ceil(missing / 100 / 100) * 100) : 500))
  const [key, setKey] = useState(() => crypto.randomUUID())
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [done, setDone] = useState<Output<'billing.topup'> | null>(null)
  const [addingCard, setAddingCard] = useState(false)
  const dollars = Number(amount)
  const card = cards.data?.payment_methods.find(({ is_default }) => is_default)
  const bonus = dollars >= BONUS_FROM_AUD ? Math.floor(dollars * 100 * BONUS) : 0
  const charge = async () => {
    setBusy(true)
    setError(null)
    try {
      setDone(await call('billing.topup', { aud_cents: Math.round(dollars * 100) }, { idempotencyKey: key }))
      await touch(client, ['billing'])
    } catch (cause) {
      setError(cause)
      if (isProblem(cause, 'card-declined')) setKey(crypto.randomUUID())
    } finally {
      setBusy(false)
    }
  }
  const change = (next: string) => {
    setAmount(next)
    setKey(crypto.randomUUID())
  }
  if (addingCard) return <AddCard onClose={() => setAddingCard(false)} />
  return (
    <Dialog title="Add credits" onClose={onClose}>
      {done && done.status !== 'failed' ? (
        <div className={classes(ui.flexColumn, ui.gap12)}>
          <Note tone="ok" icon="check">
            <b>
              {done.status === 'succeeded'
                ? `${count(done.credits_granted + done.bonus_credits)} credits were added.`
                : 'The payment is being processed.'}
            </b>{' '}
            The balance is {count(done.new_balance)} credits.
          </Note>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      ) : (
        <form
          className={classes(ui.flexColumn, ui.gap12)}
          onSubmit={(event) => {
            event.preventDefault()
            void charge()
          }}
        >
          <div className={classes(ui.flexRow, ui.gap6, ui.wrap)} role="group" aria-label="Amount">
            {AMOUNTS.map((amount) => (
              <button
                key={amount}
                type="button"
                className={dollars === amount ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
                aria-pressed={dollars === amount}
                onClick={() => change(String(amount))}
              >
                {aud(amount)}
              </button>
            ))}
          </div>
          <Field label="A$" inputMode="decimal" required value={amount} onChange={(event) => change(event.target.value)} />
          <Facts
            rows={[
              ['Credits', count(Math.round((dollars || 0) * 100))],
              ...(bonus > 0 ? [['Bonus, 5% from A$20,000', count(bonus)] as const] : []),
              ['Charged to', card ? `${card.brand} •••• ${card.last4}` : 'no card yet'],
            ]}
          />
          <Refusal
            error={error}
            secret={error instanceof ProblemError ? (error.problem as { client_secret?: string }).client_secret : null}
            onConfirmed={() => void charge()}
            onCard={() => setAddingCard(true)}
          />
          {card ? (
            <Button type="submit" variant="primary" busy={busy} disabled={!(dollars > 0)}>
              Charge {aud(dollars || 0)}
            </Button>
          ) : (
            <Button variant="primary" onClick={() => setAddingCard(true)}>
              Add a card first
            </Button>
          )}
          <p className={classes(ui.soft, ui.small)}>Clicking twice won&apos;t charge you twice.</p>
        </form>
      )}
    </Dialog>
  )
}

interface RefusalParts {
  error: unknown
  secret: unknown
  onConfirmed(): void
  onCard(): void
}

/** 3-D Secure: the bank asks the person, then the same payment goes on under the same key. */
export function Refusal({ error, secret, onConfirmed, onCard }: RefusalParts): ReactElement | null {
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<unknown>(null)
  if (!error) return null
  if (!isProblem(error, 'authentication-required'))
    return (
      <>
        <FormProblem error={error} />
        {isProblem(error, 'card-declined', 'payment-method-required') && (
          <Button onClick={onCard}>{isProblem(error, 'card-declined') ? 'Use another card' : 'Add a card'}</Button>
        )}
      </>
    )
  const confirm = async () => {
    setBusy(true)
    try {
      await route('POST', '/sandbox/payments/confirm', { client_secret: secret })
      onConfirmed()
    } catch (cause) {
      setFailed(cause)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className={styles.bank}>
      <b>Confirm this payment with your bank</b>
      <p className={classes(ui.soft, ui.small)}>Sandbox 3-D Secure. With a real payment processor, its own window opens here.</p>
      <FormProblem error={failed} />
      <Button variant="primary" busy={busy} onClick={() => void confirm()}>
        Confirm payment
      </Button>
    </div>
  )
}
