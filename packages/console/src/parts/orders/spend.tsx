/** Spending: one key for one intention, and each refusal with its way on. What was refused is repeated under the same key. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react'
import { call } from '../../api/client.ts'
import type { Input, OperationId, Output } from '../../api/contract.ts'
import { isProblem, ProblemError } from '../../api/problem.ts'
import { touch, useAct, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { audOfCredits, count } from '../../ui/format.ts'
import { Button, Field, Note } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { AddCard } from '../billing/cards.tsx'
import { AddCredits, Refusal } from '../billing/top-up.tsx'
import * as idempotencyKeys from './idempotency-keys.ts'
import { classes } from '../../ui/classes.ts'
import styles from './spend.module.css'
import noteStyles from '../../ui/note.module.css'
import ui from '../../ui/ui.module.css'

interface Spend {
  operation: OperationId
  input: object
  busy: boolean
  error: unknown
  run(): void
  clear(): void
}

/** What a spend does afterwards is up to the screen; what it touches is read again. */
export function useSpend<K extends OperationId>(operation: K, input: Input<K>, onDone: (output: Output<K>) => void): Spend {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const text = JSON.stringify(input)
  const run = async () => {
    setBusy(true)
    setError(null)
    try {
      const output = await call(operation, input, { idempotencyKey: idempotencyKeys.keyFor(operation, text) })
      idempotencyKeys.remove(operation)
      await touch(client, ['orders', 'billing', 'processing', 'clip'])
      onDone(output)
    } catch (cause) {
      // What the bank has declined is over: the next attempt is another payment.
      if (isProblem(cause, 'card-declined')) idempotencyKeys.create(operation, text)
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  return { operation, input, busy, error, run: () => void run(), clear: () => setError(null) }
}

/** Ctrl Enter spends, when it may. */
export function useSpendKey(isReady: boolean, run: () => void): void {
  const latest = useRef({ run, isReady })
  useEffect(() => {
    latest.current = { run, isReady }
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'Enter' && latest.current.isReady) latest.current.run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

const numberOf = (error: unknown, name: string): number => (error instanceof ProblemError ? Number(error.problem[name] ?? 0) : 0)
const textOf = (error: unknown, name: string): string => (error instanceof ProblemError ? String(error.problem[name] ?? '') : '')

/** Why a spend was refused, and what leads on from there. */
export function SpendRefusal({ spend }: { spend: Spend }): ReactElement | null {
  const { error } = spend
  if (!error) return null
  if (isProblem(error, 'insufficient-credits')) return <TooFewCredits spend={spend} />
  if (isProblem(error, 'authentication-required', 'card-declined', 'payment-method-required')) return <CardRefused spend={spend} />
  if (isProblem(error, 'spend-limit-exceeded')) return <AboveCap spend={spend} />
  if (isProblem(error, 'licence-acceptance-required')) {
    const ids = { eula: textOf(error, 'eula_id'), document: textOf(error, 'document_id') }
    return <AcceptLicence {...ids} onAccepted={spend.run} onClose={spend.clear} />
  }
  return <FormProblem error={error} />
}

function TooFewCredits({ spend }: { spend: Spend }): ReactElement {
  const who = useWho()
  const client = useQueryClient()
  const [adding, setAdding] = useState(false)
  const [required, available] = [numberOf(spend.error, 'required_credits'), numberOf(spend.error, 'available_credits')]
  const close = async () => {
    setAdding(false)
    await touch(client, ['billing'])
    const status = await call('billing.status.get', { organization_id: who.organizationId })
    if (status.available_credits >= required) spend.run()
  }
  return (
    <>
      <Note tone="bad" icon="card">
        <b>{count(required - available)} more credits needed.</b> This costs {count(required)} credits; {count(available)} are available.
        Nothing was reserved.{' '}
        {who.isAdmin
          ? 'Add credits, and the order is placed automatically, once.'
          : 'An owner or admin of the organization can add credits.'}
        {who.isAdmin && (
          <div className={ui.marginTop8}>
            <Button size="s" variant="primary" icon="plus" onClick={() => setAdding(true)}>
              Add credits
            </Button>
          </div>
        )}
      </Note>
      {adding && <AddCredits missing={required - available} onClose={() => void close()} />}
    </>
  )
}

function CardRefused({ spend }: { spend: Spend }): ReactElement {
  const [adding, setAdding] = useState(false)
  return (
    <>
      <Refusal error={spend.error} secret={textOf(spend.error, 'client_secret')} onConfirmed={spend.run} onCard={() => setAdding(true)} />
      {adding && (
        <AddCard
          onClose={() => {
            setAdding(false)
            spend.clear()
          }}
        />
      )}
    </>
  )
}

function AboveCap({ spend }: { spend: Spend }): ReactElement {
  const ask = useAct('billing.approvals.request', ['billing'])
  const [reason, setReason] = useState('')
  const [limit, used, required] = ['limit', 'used', 'required_credits'].map((name) => numberOf(spend.error, name)) as [
    number,
    number,
    number,
  ]
  if (ask.data)
    return (
      <Note tone="ok" icon="check">
        <b>Approval requested.</b> It runs automatically if an owner or admin approves within 7 days. Until then, nothing is reserved.
      </Note>
    )
  const send = () =>
    ask.mutate(
      { operation: spend.operation, input: spend.input as Record<string, unknown>, reason: reason.trim() || null },
      { onSuccess: () => void toast('Approval requested') },
    )
  return (
    <div className={classes(noteStyles.note, noteStyles.warning, styles.columnNote)} role="alert">
      <div>
        <b>This exceeds your spending cap.</b> This costs {count(required)} credits ({audOfCredits(required)}).{' '}
        {used > 0
          ? `You have spent ${count(used)} of ${count(limit)} credits in 30 days.`
          : `Your limit per order is ${count(limit)} credits.`}{' '}
        Nothing was reserved.
      </div>
      <Field label="Reason" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      <FormProblem error={ask.error} />
      <Button variant="primary" icon="users" busy={ask.isPending} onClick={send}>
        Request approval
      </Button>
    </div>
  )
}

interface LicenceParts {
  eula: string
  document: string
  onAccepted(): void
  onClose(): void
}

/** The words that the organization is bound by, before it is bound by them. */
function AcceptLicence({ eula, document, onAccepted, onClose }: LicenceParts): ReactElement {
  const text = useOp('eulas.document.get', { eula_id: eula, document_id: document })
  const who = useWho()
  const accept = useAct('eulas.document.accept', ['eulas'])
  return (
    <Dialog title="Licence" onClose={onClose} size={620}>
      <Loaded query={text} rows={5}>
        {(loaded) => (
          <div className={classes(ui.flexColumn, ui.gap12)}>
            <p className={classes(ui.soft, ui.small)}>
              Version {loaded.version}. You accept it for {who.organizationName}.
            </p>
            <div className={styles.licenceText} tabIndex={0} role="region" aria-label="Licence text">
              {loaded.text}
            </div>
            <FormProblem error={accept.error} />
            <div className={classes(ui.flexRow, ui.gap8)}>
              <Button
                variant="primary"
                busy={accept.isPending}
                onClick={() => accept.mutate({ eula_id: eula, document_id: document, is_accepted: true }, { onSuccess: onAccepted })}
              >
                Accept version {loaded.version}
              </Button>
              <Button onClick={onClose}>Not now</Button>
            </div>
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}

/** The licences of these products that the organization has accepted, and those that it has not. */
export function useLicences(products: readonly string[]) {
  const eulas = useOp('eulas.list', { size: 100 }, { staleTime: 60_000 })
  return useMemo(() => {
    const bound = (eulas.data?.content ?? []).filter(({ data_products }) => data_products.some(({ name }) => products.includes(name)))
    return { bound, open: bound.filter(({ accepted }) => !accepted), isKnown: eulas.data !== undefined || eulas.isError }
    // A list of names is the same list while its names are.
    // oxlint-disable-next-line exhaustive-deps
  }, [eulas.data, eulas.isError, products.join()])
}

export function LicenceRows({ products }: { products: readonly string[] }): ReactElement | null {
  const { bound } = useLicences(products)
  const [reading, setReading] = useState<string | null>(null)
  if (bound.length === 0) return null
  const read = bound.find(({ id }) => id === reading)
  return (
    <div className={classes(styles.licence, ui.marginTop16)}>
      {bound.map((eula) => (
        <div key={eula.id} className={classes(ui.flexRow, ui.alignTop, ui.between, ui.gap8)}>
          <span>
            <b>{eula.name}</b>
            <br />
            <span className={classes(ui.soft, ui.small)}>
              {eula.accepted ? 'Accepted by your organization.' : 'Must be accepted before you order.'}
            </span>
          </span>
          <Button size="s" variant={eula.accepted ? 'plain' : 'primary'} onClick={() => setReading(eula.id)}>
            {eula.accepted ? 'Read' : 'Read and accept'}
          </Button>
        </div>
      ))}
      {read && (
        <AcceptLicence
          eula={read.id}
          document={read.current_document_id}
          onAccepted={() => setReading(null)}
          onClose={() => setReading(null)}
        />
      )}
    </div>
  )
}
