/** The card processor, through Stripe's own package. The sandbox implements the same protocol, so there is no other adapter. */
import type Stripe from 'stripe'
import { CURRENCY } from '#core/money.ts'
import { PaymentsError, type Card, type Intent, type IntentStatus, type Payments, type ProcessorInvoice } from '#ports/payments.ts'

interface StripeOptions {
  secretKey: string
  /** The secret that signs the processor's webhooks. */
  webhookSecret: string
  /** Address of the sandbox; null for the processor itself. */
  sandboxUrl: (() => string) | null
  timeoutMs?: number
}

/** Short, because a user waits for most of these calls. */
const TIMEOUT_MS = 20_000
/** Retries use the same idempotency key, so that a lost response is replayed and not charged again. */
const RETRIES = 2
/** Maximum age of a signed webhook. */
const NOTICE_TOLERANCE_SECONDS = 300
/** The currency, as the processor spells it. */
const AUD = CURRENCY.toLowerCase()

/** Calls the processor and translates its errors. */
type Ask = <T>(work: (stripe: Stripe) => Promise<T>) => Promise<T>

export function createStripePayments(options: StripeOptions): Payments {
  let loading: Promise<Stripe> | null = null
  /** Loaded at the first use, because it is large and many installations never take a card. */
  const client = () => (loading ??= load(options))
  const ask: Ask = async (work) => {
    try {
      return await work(await client())
    } catch (error) {
      throw translated(error)
    }
  }

  return {
    env: options.sandboxUrl ? 'sandbox' : options.secretKey.startsWith('sk_test_') ? 'test' : 'live',
    ...customersAndCards(ask),
    ...intents(ask),
    ...invoices(ask),
    readNotice: (body, signature) =>
      ask(async (stripe) => {
        const event = stripe.webhooks.constructEvent(body, signature, options.webhookSecret, NOTICE_TOLERANCE_SECONDS)
        const about = event.data.object as { id?: string; object?: string; payment_intent?: string | { id: string } | null }
        const named = typeof about.payment_intent === 'object' ? about.payment_intent?.id : about.payment_intent
        return { id: event.id, type: event.type, paymentIntentId: about.object === 'payment_intent' ? about.id! : (named ?? null) }
      }),
  }
}

type CardCalls = 'createCustomer' | 'createSetupIntent' | 'attachMethod' | 'detachMethod' | 'setDefaultMethod'

function customersAndCards(ask: Ask): Pick<Payments, CardCalls> {
  return {
    createCustomer: ({ organizationId, name, email }, key) =>
      ask(async (stripe) => {
        const customer = { name, ...(email ? { email } : {}), metadata: { organization_id: organizationId } }
        return (await stripe.customers.create(customer, { idempotencyKey: key })).id
      }),
    createSetupIntent: (customer, key) =>
      ask(async (stripe) => {
        const intent = await stripe.setupIntents.create(
          { customer, allowed_payment_method_types: ['card'], usage: 'off_session' },
          { idempotencyKey: key },
        )
        return { id: intent.id, clientSecret: intent.client_secret! }
      }),
    attachMethod: (customer, methodId, key) =>
      ask(async (stripe) => toCard(await stripe.paymentMethods.attach(methodId, { customer }, { idempotencyKey: key }))),
    detachMethod: (methodId) => ask(async (stripe) => void (await stripe.paymentMethods.detach(methodId))),
    setDefaultMethod: (customer, methodId) =>
      ask(async (stripe) => void (await stripe.customers.update(customer, { invoice_settings: { default_payment_method: methodId } }))),
  }
}

type IntentCalls = 'createIntent' | 'confirmIntent' | 'getIntent' | 'captureIntent' | 'cancelIntent' | 'refund'

function intents(ask: Ask): Pick<Payments, IntentCalls> {
  return {
    createIntent: ({ customerId, cents, hold, metadata }, key) =>
      ask(async (stripe) =>
        toIntent(
          await stripe.paymentIntents.create(
            {
              customer: customerId,
              amount: cents,
              currency: AUD,
              capture_method: hold ? 'manual' : 'automatic',
              allowed_payment_method_types: ['card'],
              metadata,
            },
            { idempotencyKey: key },
          ),
        ),
      ),
    confirmIntent: (id, methodId, { offSession }, key) =>
      ask(async (stripe) =>
        toIntent(
          await stripe.paymentIntents
            .confirm(id, { payment_method: methodId, off_session: offSession }, { idempotencyKey: key })
            .catch(refusedIntent),
        ),
      ),
    getIntent: (id) => ask(async (stripe) => toIntent(await stripe.paymentIntents.retrieve(id))),
    captureIntent: (id, cents, key) =>
      ask(async (stripe) => toIntent(await stripe.paymentIntents.capture(id, { amount_to_capture: cents }, { idempotencyKey: key }))),
    cancelIntent: (id, key) => ask(async (stripe) => toIntent(await stripe.paymentIntents.cancel(id, {}, { idempotencyKey: key }))),
    refund: (intentId, cents, key) =>
      ask(async (stripe) => void (await stripe.refunds.create({ payment_intent: intentId, amount: cents }, { idempotencyKey: key }))),
  }
}

function invoices(ask: Ask): Pick<Payments, 'createInvoice' | 'payInvoice' | 'listInvoices'> {
  return {
    createInvoice: ({ customerId, cents, description, metadata }, key) =>
      ask(async (stripe) => {
        const draft = await stripe.invoices.create(
          {
            customer: customerId,
            currency: AUD,
            auto_advance: false,
            collection_method: 'charge_automatically',
            pending_invoice_items_behavior: 'exclude',
            metadata,
          },
          { idempotencyKey: `${key}:create` },
        )
        await stripe.invoiceItems.create(
          { customer: customerId, invoice: draft.id!, amount: cents, currency: AUD, description },
          { idempotencyKey: `${key}:item` },
        )
        return toInvoice(await stripe.invoices.finalizeInvoice(draft.id!, {}, { idempotencyKey: `${key}:finalize` }))
      }),
    payInvoice: (id) =>
      ask(async (stripe) => {
        const invoice = await stripe.invoices.retrieve(id)
        if (invoice.status !== 'open') return toInvoice(invoice)
        return toInvoice(
          await stripe.invoices.pay(id).catch(async (error: unknown) => {
            if ((error as { type?: string }).type !== 'StripeCardError') throw error
            return await stripe.invoices.retrieve(id)
          }),
        )
      }),
    listInvoices: (customer, limit) => ask(async (stripe) => (await stripe.invoices.list({ customer, limit })).data.map(toInvoice)),
  }
}

async function load({ secretKey, sandboxUrl, timeoutMs = TIMEOUT_MS }: StripeOptions): Promise<Stripe> {
  const { default: Client } = await import('stripe')
  const sandbox = sandboxUrl ? new URL(sandboxUrl()) : null
  return new Client(secretKey, {
    timeout: timeoutMs,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(sandbox ? { protocol: 'http' as const, host: sandbox.hostname, port: sandbox.port } : {}),
  })
}

function toCard({ id, card }: Stripe.PaymentMethod): Card {
  if (!card) throw new PaymentsError('not-found', 'The payment method is not a card')
  return { id, brand: card.brand, last4: card.last4, expMonth: card.exp_month, expYear: card.exp_year }
}

function toIntent({ id, status, client_secret, amount, last_payment_error }: Stripe.PaymentIntent): Intent {
  const failure = last_payment_error ? (last_payment_error.decline_code ?? last_payment_error.code ?? 'declined') : null
  return { id, status: status as IntentStatus, clientSecret: client_secret ?? '', cents: amount, failure }
}

function toInvoice({ id, number, status, total, created, hosted_invoice_url }: Stripe.Invoice): ProcessorInvoice {
  return { id: id!, number, status: status ?? 'draft', cents: total, createdAt: new Date(created * 1000), url: hosted_invoice_url ?? null }
}

/** A decline by the bank includes the current payment intent. */
function refusedIntent(error: unknown): Stripe.PaymentIntent {
  const { type, payment_intent } = error as { type?: string; payment_intent?: Stripe.PaymentIntent }
  if (type === 'StripeCardError' && payment_intent) return payment_intent
  throw error
}

/** Connection failures, rate limits and server errors mean the same to us: the outcome is unknown. */
function translated(error: unknown): unknown {
  const { type, statusCode, message } = error as { type?: string; statusCode?: number; message?: string }
  if (error instanceof PaymentsError || !type?.startsWith('Stripe')) return error
  if (type === 'StripeSignatureVerificationError')
    return new PaymentsError('invalid-signature', 'The webhook is not signed by the processor', { cause: error })
  if (type === 'StripeInvalidRequestError' && statusCode === 404)
    return new PaymentsError('not-found', message ?? 'Not found', { cause: error })
  if (type === 'StripeInvalidRequestError' || type === 'StripeCardError')
    return new PaymentsError('refused', message ?? 'Refused', { cause: error })
  return new PaymentsError('unavailable', 'The payment processor returned no usable response', { cause: error })
}
