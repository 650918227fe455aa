/** The part of the processor's protocol that the platform uses: the effect of each request on the stored objects. */
import { TEST_CARDS } from './cards.ts'
import { objectOf, textOf, type Form } from './form.ts'
import { newKey, type Answer, type Session, type Stored } from './store.ts'

export class Refusal extends Error {
  readonly answer: Answer
  constructor(status: number, type: string, message: string, more: object = {}) {
    super(message)
    this.answer = { status, body: { error: { type, message, ...more } } }
  }
}

const invalid = (message: string, code?: string) => new Refusal(400, 'invalid_request_error', message, code ? { code } : {})
const missing = (what: string, id: string) =>
  new Refusal(404, 'invalid_request_error', `No such ${what}: '${id}'`, { code: 'resource_missing' })

const now = () => Math.floor(Date.now() / 1000)

async function need(session: Session, object: string, id: string | null): Promise<Stored> {
  const stored = id ? await session.find(id) : null
  if (stored?.object !== object) throw missing(object, id ?? '')
  return stored
}

const amountOf = (form: Form, name: string): number => {
  const amount = Number(textOf(form, name))
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > 99_999_999) throw invalid(`Invalid ${name}`, 'amount_too_large')
  return amount
}

const ok = (body: object): Answer => ({ status: 200, body })

type Route = (session: Session, form: Form, id: string) => Promise<Answer>

async function createCustomer(session: Session, form: Form): Promise<Answer> {
  const customer = {
    id: newKey('cus'),
    object: 'customer',
    name: textOf(form, 'name'),
    email: textOf(form, 'email'),
    metadata: objectOf(form, 'metadata'),
    invoice_settings: { default_payment_method: null },
    created: now(),
  }
  await session.save(customer)
  return ok(customer)
}

async function updateCustomer(session: Session, form: Form, id: string): Promise<Answer> {
  const customer = await need(session, 'customer', id)
  const method = textOf(objectOf(form, 'invoice_settings'), 'default_payment_method')
  if (method && (await need(session, 'payment_method', method))['customer'] !== id)
    throw invalid('The payment method is not attached to this customer')
  customer['invoice_settings'] = { default_payment_method: method }
  await session.save(customer)
  return ok(customer)
}

async function createSetupIntent(session: Session, form: Form): Promise<Answer> {
  const customer = await need(session, 'customer', textOf(form, 'customer'))
  const id = newKey('seti')
  const setupIntent = {
    id,
    object: 'setup_intent',
    customer: customer.id,
    status: 'requires_payment_method',
    client_secret: `${id}_secret_${newKey('s').slice(2)}`,
    payment_method: null,
    created: now(),
  }
  await session.save(setupIntent)
  return ok(setupIntent)
}

/** Attaching a test card to a customer creates a new payment method, as at the processor. */
async function attach(session: Session, form: Form, id: string): Promise<Answer> {
  const customer = await need(session, 'customer', textOf(form, 'customer'))
  return ok(await attached(session, customer.id, id))
}

async function attached(session: Session, customer: string, id: string): Promise<Stored> {
  const test = Object.hasOwn(TEST_CARDS, id) ? TEST_CARDS[id]! : null
  const known = test ? null : await need(session, 'payment_method', id)
  if (known && known['customer'] !== customer) throw invalid('This payment method was used before or is attached to another customer')
  if (known) return known
  const attachedMethod = {
    id: newKey('pm'),
    object: 'payment_method',
    type: 'card',
    customer,
    card: { brand: test!.brand, last4: test!.last4, exp_month: 12, exp_year: new Date().getUTCFullYear() + 4 },
    metadata: { test: id },
    created: now(),
  }
  await session.save(attachedMethod)
  return attachedMethod
}

async function detach(session: Session, _form: Form, id: string): Promise<Answer> {
  const method = await need(session, 'payment_method', id)
  if (method['customer'] === null) throw invalid('The payment method is not attached to a customer')
  method['customer'] = null
  await session.save(method)
  return ok(method)
}

async function createIntent(session: Session, form: Form): Promise<Answer> {
  const customer = await need(session, 'customer', textOf(form, 'customer'))
  const id = newKey('pi')
  const intent = {
    id,
    object: 'payment_intent',
    amount: amountOf(form, 'amount'),
    amount_received: 0,
    amount_capturable: 0,
    currency: textOf(form, 'currency'),
    customer: customer.id,
    capture_method: textOf(form, 'capture_method') ?? 'automatic',
    status: 'requires_payment_method',
    client_secret: `${id}_secret_${newKey('s').slice(2)}`,
    payment_method: null,
    last_payment_error: null,
    metadata: objectOf(form, 'metadata'),
    created: now(),
  }
  await session.save(intent)
  return ok(intent)
}

async function confirmIntent(session: Session, form: Form, id: string): Promise<Answer> {
  const intent = await need(session, 'payment_intent', id)
  if (!['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent['status'] as string))
    throw unexpectedState(intent, 'confirmed')
  const method = await need(session, 'payment_method', textOf(form, 'payment_method'))
  if (method['customer'] !== intent['customer']) throw invalid('The payment method is not attached to this customer')
  intent['payment_method'] = method.id
  const { behaviour, declineCode } = TEST_CARDS[(method['metadata'] as { test: string }).test]!
  const offSession = textOf(form, 'off_session') === 'true'
  if (behaviour === 'declines') return await refuse(session, intent, 'card_declined', declineCode!)
  if (behaviour === 'authenticates' && offSession)
    return await refuse(session, intent, 'authentication_required', 'authentication_required')
  if (behaviour === 'authenticates') {
    intent['status'] = 'requires_action'
    intent['next_action'] = { type: 'use_stripe_sdk' }
    await session.save(intent)
    await session.notify('payment_intent.requires_action', intent)
    return ok(intent)
  }
  await authorize(session, intent)
  return ok(intent)
}

async function refuse(session: Session, intent: Stored, code: string, declineCode: string): Promise<Answer> {
  intent['status'] = 'requires_payment_method'
  intent['last_payment_error'] = { type: 'card_error', code, decline_code: declineCode, message: 'Your card was declined.' }
  await session.save(intent)
  await session.notify('payment_intent.payment_failed', intent)
  return {
    status: 402,
    body: { error: { type: 'card_error', code, decline_code: declineCode, message: 'Your card was declined.', payment_intent: intent } },
  }
}

async function authorize(session: Session, intent: Stored): Promise<void> {
  const isHold = intent['capture_method'] === 'manual'
  intent['status'] = isHold ? 'requires_capture' : 'succeeded'
  intent[isHold ? 'amount_capturable' : 'amount_received'] = intent['amount']
  intent['last_payment_error'] = null
  intent['next_action'] = null
  await session.save(intent)
  await session.notify(isHold ? 'payment_intent.amount_capturable_updated' : 'payment_intent.succeeded', intent)
}

const unexpectedState = (intent: Stored, done: string) =>
  new Refusal(
    400,
    'invalid_request_error',
    `This PaymentIntent could not be ${done} because it has a status of ${String(intent['status'])}.`,
    { code: 'payment_intent_unexpected_state', payment_intent: intent },
  )

async function captureIntent(session: Session, form: Form, id: string): Promise<Answer> {
  const intent = await need(session, 'payment_intent', id)
  if (intent['status'] !== 'requires_capture') throw unexpectedState(intent, 'captured')
  const amount = textOf(form, 'amount_to_capture') === null ? (intent['amount'] as number) : amountOf(form, 'amount_to_capture')
  if (amount > (intent['amount_capturable'] as number))
    throw invalid('The amount to capture is more than was authorized', 'amount_too_large')
  Object.assign(intent, { status: 'succeeded', amount_received: amount, amount_capturable: 0 })
  await session.save(intent)
  await session.notify('payment_intent.succeeded', intent)
  return ok(intent)
}

async function cancelIntent(session: Session, _form: Form, id: string): Promise<Answer> {
  const intent = await need(session, 'payment_intent', id)
  if (['succeeded', 'canceled', 'processing'].includes(intent['status'] as string)) throw unexpectedState(intent, 'canceled')
  Object.assign(intent, { status: 'canceled', amount_capturable: 0, canceled_at: now() })
  await session.save(intent)
  await session.notify('payment_intent.canceled', intent)
  return ok(intent)
}

async function createRefund(session: Session, form: Form): Promise<Answer> {
  const intent = await need(session, 'payment_intent', textOf(form, 'payment_intent'))
  const amount = textOf(form, 'amount') === null ? (intent['amount_received'] as number) : amountOf(form, 'amount')
  const refunded = (intent['amount_refunded'] as number | undefined) ?? 0
  if (intent['status'] !== 'succeeded' || refunded + amount > (intent['amount_received'] as number))
    throw invalid('Refund amount is greater than unrefunded amount on charge', 'charge_already_refunded')
  intent['amount_refunded'] = refunded + amount
  const refund = { id: newKey('re'), object: 'refund', amount, payment_intent: intent.id, status: 'succeeded', created: now() }
  await session.save(intent)
  await session.save(refund)
  await session.notify('refund.created', refund)
  return ok(refund)
}

async function createInvoice(session: Session, form: Form): Promise<Answer> {
  const customer = await need(session, 'customer', textOf(form, 'customer'))
  const invoice = {
    id: newKey('in'),
    object: 'invoice',
    customer: customer.id,
    currency: textOf(form, 'currency'),
    number: null,
    status: 'draft',
    total: 0,
    metadata: objectOf(form, 'metadata'),
    hosted_invoice_url: null,
    created: now(),
  }
  await session.save(invoice)
  return ok(invoice)
}

async function createInvoiceItem(session: Session, form: Form): Promise<Answer> {
  const invoice = await need(session, 'invoice', textOf(form, 'invoice'))
  if (invoice['status'] !== 'draft') throw invalid('The invoice is no longer a draft')
  const line = {
    id: newKey('ii'),
    object: 'invoiceitem',
    invoice: invoice.id,
    customer: invoice['customer'],
    amount: amountOf(form, 'amount'),
    description: textOf(form, 'description'),
  }
  await session.save(line)
  return ok(line)
}

async function finalizeInvoice(session: Session, _form: Form, id: string): Promise<Answer> {
  const invoice = await need(session, 'invoice', id)
  if (invoice['status'] !== 'draft') throw invalid('The invoice is no longer a draft')
  const total = (await session.lines(id)).reduce((sum, line) => sum + (line['amount'] as number), 0)
  Object.assign(invoice, { status: 'open', total, number: `SANDBOX-${id.slice(-8).toUpperCase()}` })
  await session.save(invoice)
  return ok(invoice)
}

async function payInvoice(session: Session, _form: Form, id: string): Promise<Answer> {
  const invoice = await need(session, 'invoice', id)
  if (invoice['status'] !== 'open') throw invalid(invoice['status'] === 'paid' ? 'Invoice is already paid' : 'The invoice is not open')
  const customer = await need(session, 'customer', invoice['customer'] as string)
  const methodId = (customer['invoice_settings'] as { default_payment_method: string | null }).default_payment_method
  const method = methodId ? await session.find(methodId) : null
  const behaviour =
    method && method['customer'] === customer.id ? TEST_CARDS[(method['metadata'] as { test: string }).test]!.behaviour : null
  if (behaviour === null) throw invalid('Cannot charge a customer that has no active card', 'missing')
  if (behaviour !== 'succeeds') {
    await session.notify('invoice.payment_failed', invoice)
    return {
      status: 402,
      body: {
        error: {
          type: 'card_error',
          code: 'card_declined',
          decline_code: behaviour === 'declines' ? 'generic_decline' : 'authentication_required',
          message: 'Your card was declined.',
        },
      },
    }
  }
  invoice['status'] = 'paid'
  await session.save(invoice)
  await session.notify('invoice.paid', invoice)
  return ok(invoice)
}

const show =
  (object: string): Route =>
  async (session, _form, id) =>
    ok(await need(session, object, id))

export const ROUTES: Readonly<Record<string, Route>> = {
  'POST /v1/customers': createCustomer,
  'GET /v1/customers/:id': show('customer'),
  'POST /v1/customers/:id': updateCustomer,
  'POST /v1/setup_intents': createSetupIntent,
  'GET /v1/setup_intents/:id': show('setup_intent'),
  'GET /v1/payment_methods/:id': show('payment_method'),
  'POST /v1/payment_methods/:id/attach': attach,
  'POST /v1/payment_methods/:id/detach': detach,
  'POST /v1/payment_intents': createIntent,
  'GET /v1/payment_intents/:id': show('payment_intent'),
  'POST /v1/payment_intents/:id/confirm': confirmIntent,
  'POST /v1/payment_intents/:id/capture': captureIntent,
  'POST /v1/payment_intents/:id/cancel': cancelIntent,
  'POST /v1/refunds': createRefund,
  'POST /v1/invoiceitems': createInvoiceItem,
  'POST /v1/invoices': createInvoice,
  'GET /v1/invoices': async (session, form) =>
    ok({
      object: 'list',
      has_more: false,
      data: await session.listInvoices(textOf(form, 'customer') ?? '', Number(textOf(form, 'limit') ?? 10)),
    }),
  'GET /v1/invoices/:id': show('invoice'),
  'POST /v1/invoices/:id/finalize': finalizeInvoice,
  'POST /v1/invoices/:id/pay': payInvoice,
}

/** What a customer does in the browser: completes 3-D Secure, or enters a card for a setup intent. */
export async function confirmByClient(session: Session, clientSecret: string, methodId: string | null): Promise<Stored> {
  const intent = await session.find(clientSecret.split('_secret_', 1)[0]!)
  if (!intent || intent['client_secret'] !== clientSecret) throw missing('client secret', 'given')
  if (intent.object === 'payment_intent') {
    if (intent['status'] !== 'requires_action') throw unexpectedState(intent, 'confirmed')
    await authorize(session, intent)
    return intent
  }
  if (intent['status'] === 'succeeded') return intent
  const method = await attached(session, intent['customer'] as string, methodId ?? 'pm_card_visa')
  Object.assign(intent, { status: 'succeeded', payment_method: method.id })
  await session.save(intent)
  await session.notify('setup_intent.succeeded', intent)
  return intent
}
