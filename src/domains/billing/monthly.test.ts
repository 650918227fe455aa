import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import * as commitments from '#model/money/commitment.ts'
import { buy, end } from '../../../test/money/shop.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import chaseInvoices from './chase-invoices.task.ts'
import closeMonth from './close-month.task.ts'
import closeMonths from './close-months.task.ts'
import collectInvoice from './collect-invoice.task.ts'

const place = async (w: World, org: Org, input: object, owed?: number) => {
  const { id } = await w.ok(org.owner.token, 'orders.test_buy', input, { 'idempotency-key': newId() })
  await w.ok(org.owner.token, 'orders.test_end', { id, how: 'capture', ...(owed === undefined ? {} : { credits: owed }) })
  return id as string
}

// Goal: a month becomes one statement with tax and shortfall, once, however often and by whomever it is closed.
test('the month of an enterprise organization', async (t) => {
  const w = await world(t, { operations: [buy, end], startAt: '2030-01-15T00:00:00.000Z' })
  const org = await w.organization('Coastal Survey')
  const staff = () => w.serviceToken()
  await w.db.updateTable('organization').set({ country: 'AU' }).where('id', '=', org.id).execute()
  await w.ok(await staff(), 'organizations.set_billing_mode', { organization_id: org.id, billing_mode: 'enterprise' })
  const base = {
    organization_id: org.id,
    name: 'First quarter',
    products: ['vhr'],
    period_start: '2030-01-01',
    period_end: '2030-02-28',
    rates: [{ product: 'vhr', credits_per_km2: 150, discount_percent: null }],
  }

  await t.test('operators create commitments, which are validated and summed up', async () => {
    for (const bad of [
      {},
      { minimum_aud: 1, minimum_km2: 1 },
      { minimum_aud: 0 },
      { minimum_aud: 100, period_end: '2030-01-01' },
      { minimum_aud: 100, rates: [{ product: 'vhr', credits_per_km2: null, discount_percent: null }] },
      { minimum_km2: 5, rates: [] },
      { minimum_aud: 1e13 },
      { minimum_aud: 5, period_end: '2030-02-30' },
    ]) {
      assert.equal((await w.call(await staff(), 'organizations.commitments.put', { ...base, ...bad })).status, 422, JSON.stringify(bad))
    }
    assert.equal((await w.call(org.owner.token, 'organizations.commitments.put', { ...base, minimum_aud: 1_000 })).status, 403)
    const spend = await w.ok(await staff(), 'organizations.commitments.put', { ...base, minimum_aud: 1_000 })
    assert.deepEqual([spend.status, spend.remaining, spend.shortfall, spend.line_items], ['active', 1_000, 0, null])
    const area = await w.ok(await staff(), 'organizations.commitments.put', { ...base, name: 'Area', minimum_km2: 10 })
    assert.equal(
      (await w.call(await staff(), 'organizations.commitments.put', { ...base, minimum_aud: 5, commitment_id: newId() })).status,
      404,
    )

    await place(w, org, { credits: 30_000, product: 'vhr', area: 4 })
    await place(w, org, { credits: 20_000, product: 'vhr', area: 2 }, 10_000)
    await place(w, org, { credits: 7_777, product: 'other', area: 9 })
    const { commitments: listed } = await w.ok(org.owner.token, 'organizations.commitments.list', { include_line_items: true })
    assert.deepEqual(
      listed.map((commitment: { id: string; delivered_to_date: number; remaining: number }) => [
        commitment.id,
        commitment.delivered_to_date,
        commitment.remaining,
      ]),
      [
        [spend.id, 400, 600],
        [area.id, 5, 5],
      ],
    )
    assert.deepEqual(
      listed[0].line_items.map((item: { credits: number; product: string }) => [item.product, item.credits]),
      [
        ['vhr', 10_000],
        ['vhr', 30_000],
      ],
    )
    assert.equal((await w.ok(org.owner.token, 'organizations.commitments.list', { commitment_id: area.id })).commitments.length, 1)
    const stranger = await w.organization()
    assert.equal((await w.call(stranger.owner.token, 'organizations.commitments.list', { commitment_id: area.id })).status, 404)
    assert.deepEqual(await w.ok(stranger.owner.token, 'organizations.commitments.list'), { commitments: [] })
  })

  await t.test('contracted rates apply to the products they cover, rounded up once per line', async () => {
    const at = w.clock.now()
    const priced = await commitments.priced(
      w.db,
      org.id,
      [
        { product: 'vhr', area_km2: 1.001, credits: 500 },
        { product: 'vhr', area_km2: 1, credits: 100 },
        { product: 'other', area_km2: 1, credits: 500 },
      ],
      at,
    )
    assert.deepEqual(
      priced.map(({ credits }) => credits),
      [151, 100, 500],
    )
    assert.equal(
      (await commitments.priced(w.db, org.id, [{ product: 'vhr', area_km2: 1, credits: 500 }], new Date('2031-01-01')))[0]!.credits,
      500,
      'after the contract',
    )
  })

  await t.test('only a month that has ended, and only by those with permission', async () => {
    const close = (token: string, input: object) => w.call(token, 'billing.run_monthly_for_org', { organization_id: org.id, ...input })
    assert.equal((await close(org.owner.token, { period: '2030-01' })).status, 400)
    assert.equal((await close(org.owner.token, { period: '2030-13' })).status, 422)
    const stranger = await w.organization()
    assert.equal((await close(stranger.owner.token, { period: '2029-12' })).status, 403)
    assert.equal((await w.call(await staff(), 'billing.run_monthly_for_org', { organization_id: newId() })).status, 404)
    assert.equal(
      (await w.call(org.owner.token, 'organizations.commitments.statement', { organization_id: org.id })).status,
      404,
      'never settled',
    )
    assert.equal(
      (await w.call(org.owner.token, 'organizations.commitments.statement', { organization_id: org.id, period: '2031-01' })).status,
      400,
    )
    assert.equal((await w.call(stranger.owner.token, 'organizations.commitments.statement', { organization_id: org.id })).status, 403)
  })

  await t.test('January: deliveries with tax; 20 concurrent calls close it once', async () => {
    w.clock.advance({ days: 20 })
    Object.assign(org.owner, await w.signIn(org.owner))
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        w.call(org.owner.token, 'billing.run_monthly_for_org', { organization_id: org.id, period: '2030-01' }),
      ),
    )
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200])
    assert.equal(responses.filter(({ body }) => body.closed).length, 1)
    assert.equal(new Set(responses.map(({ body }) => body.invoice.number)).size, 1)
    const { invoice, lines } = responses[0]!.body
    assert.deepEqual(
      [invoice.subtotal_aud, invoice.gst_aud, invoice.total_aud, invoice.status, lines.length],
      [477.77, 47.78, 525.55, 'open', 3],
    )
    const statement = await w.ok(org.owner.token, 'organizations.commitments.statement', { organization_id: org.id })
    assert.deepEqual(
      [statement.period, statement.total_aud, statement.lines.length, statement.commitments[0].remaining],
      ['2030-01', 525.55, 3, 600],
    )
  })

  const idle = await w.organization()
  await t.test('February: take or pay for both commitments', async () => {
    w.clock.advance({ days: 30 })
    Object.assign(org.owner, await w.signIn(org.owner))
    await w.ok(await staff(), 'billing.run_monthly_cron', {})
    await w.drain(closeMonths)
    await w.drain(closeMonth)
    const statement = await w.ok(org.owner.token, 'organizations.commitments.statement', { organization_id: org.id, period: '2030-02' })
    assert.deepEqual(
      statement.lines.map((line: { kind: string; amount_aud: number }) => [line.kind, line.amount_aud]),
      [
        ['shortfall', 600],
        ['shortfall', 7.5],
      ],
    )
    assert.deepEqual([statement.subtotal_aud, statement.gst_aud, statement.total_aud], [607.5, 60.75, 668.25])
    assert.deepEqual(
      statement.commitments.map((commitment: { status: string }) => commitment.status),
      ['shortfall', 'shortfall'],
    )
    const everyone = await w.db.selectFrom('invoice').select('org_id').where('period', '=', '2030-02').execute()
    assert.equal(
      everyone.length,
      (await w.db.selectFrom('organization').select('id').execute()).length,
      'the month of every organization is closed',
    )
  })

  await t.test('a month without charges has an invoice of zero: numbered, listed and readable', async () => {
    const { token } = await w.signIn(idle.owner, idle.id)
    const { invoices } = await w.ok(token, 'billing.invoices.list')
    assert.deepEqual(
      invoices.map(({ period, total_aud, status }: Record<string, unknown>) => [period, total_aud, status]),
      [['2030-02', 0, 'paid']],
    )
    assert.match(invoices[0].number, /^GT-\d{8}$/)
    const read = await w.ok(token, 'billing.invoices.get', { invoice_id: invoices[0].id })
    assert.deepEqual([read.number, read.lines], [invoices[0].number, []])
    assert.equal((await fetch(read.document_url)).status, 200)
  })

  await t.test('invoices as a list, a record and a PDF', async () => {
    const { invoices, count } = await w.ok(org.owner.token, 'billing.invoices.list')
    assert.deepEqual([count, invoices.map(({ period }: { period: string }) => period)], [2, ['2030-02', '2030-01']])
    const invoice = await w.ok(org.owner.token, 'billing.invoices.get', { invoice_id: invoices[1].id })
    assert.equal(invoice.lines.length, 3)
    const [stored] = (await w.storage.list('invoices')).objects
    assert.match(stored!.key, new RegExp(`^${org.id}/${invoice.number}-open\\.pdf$`))
    const chunks: Buffer[] = []
    for await (const chunk of await w.storage.read({ bucket: 'invoices', key: stored!.key })) chunks.push(chunk as Buffer)
    assert.match(Buffer.concat(chunks).subarray(0, 8).toString(), /^%PDF-1\./)
    assert.match(invoice.document_url, /^http/)
    const stranger = await w.organization()
    assert.equal((await w.call(stranger.owner.token, 'billing.invoices.get', { invoice_id: invoice.id })).status, 404)
    const staffToken = await staff()
    await w.ok(staffToken, 'billing.enterprise.mark_invoiced', { organization_id: org.id, reference: 'INV-7', period: '2030-01' })
    assert.equal((await w.ok(org.owner.token, 'billing.invoices.get', { invoice_id: invoice.id })).reference, 'INV-7')
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})

// Goal: the plan fee is prorated by the part of the month, charged to credits or card, with tax.
test('the month of an organization on a plan', async (t) => {
  const w = await world(t, { startAt: '2030-01-11T00:00:00.000Z' })
  const org = await w.organization()
  await w.db.updateTable('organization').set({ abn: '51 824 753 556' }).where('id', '=', org.id).execute()
  await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  w.clock.advance({ days: 10, hours: 12 })
  Object.assign(org.owner, await w.signIn(org.owner))
  await w.ok(org.owner.token, 'billing.plan.change', { plan_id: 'team' })
  assert.equal((await w.ok(org.owner.token, 'billing.status.get', { organization_id: org.id })).quotas.compute_jobs.limit, 1_000)
  w.clock.advance({ days: 15 })
  Object.assign(org.owner, await w.signIn(org.owner))

  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 6_000, reason: 'for a test' })
  const { invoice, lines } = await w.ok(org.owner.token, 'billing.run_monthly_for_org', { organization_id: org.id })
  assert.deepEqual(lines, [
    { kind: 'plan', description: 'Plan Team, 10.5 of 31 days', reference_id: 'team', quantity: 0.3387, amount_aud: 50.47 },
  ])
  assert.deepEqual(
    [invoice.subtotal_aud, invoice.gst_aud, invoice.total_aud, invoice.status, invoice.due_aud],
    [50.47, 5.05, 55.52, 'paid', 0],
  )
  assert.equal((await w.ok(org.owner.token, 'billing.credits.balance')).available_credits, 6_000 - 5_552)
  assert.equal(
    (await w.db.selectFrom('event').select('id').where('org_id', '=', org.id).where('type', '=', 'credits.low_balance').execute()).length,
    1,
  )

  w.clock.advance({ days: 27 })
  Object.assign(org.owner, await w.signIn(org.owner))
  const second = await w.ok(org.owner.token, 'billing.run_monthly_for_org', { organization_id: org.id })
  assert.deepEqual(
    [second.invoice.period, second.invoice.total_aud, second.invoice.status],
    ['2030-02', 163.9, 'open'],
    'the wallet has too few credits',
  )
  await w.drain(collectInvoice)
  const paid = await w.ok(org.owner.token, 'billing.invoices.get', { invoice_id: second.invoice.id })
  assert.deepEqual([paid.status, paid.due_aud], ['paid', 0])
  assert.equal((await w.ok(org.owner.token, 'billing.stripe_invoices.list')).invoices[0].total_aud, 163.9)
  assert.deepEqual(await moneyViolations(w.db), [])
})

// Goal: an invoice is paid from credits if they suffice, otherwise by card, and becomes past due if it stays unpaid.
test('how a month is paid', async (t) => {
  const w = await world(t, { startAt: '2030-02-02T00:00:00.000Z' })
  const owing = async (): Promise<Org & { invoiceId: string }> => {
    const org = await w.organization()
    const invoiceId = newId()
    await w.db
      .insertInto('invoice')
      .values({
        id: invoiceId,
        org_id: org.id,
        number: `T-${invoiceId}`,
        period: '2030-01',
        status: 'open',
        lines: '[]',
        commitments: '[]',
        customer: JSON.stringify({ name: 'x', abn: null, tax_number: null, billing_email: null, billing_address: null }),
        subtotal_cents: 10_000,
        gst_cents: 0,
        total_cents: 10_000,
        due_cents: 10_000,
        issued_at: w.clock.now(),
        due_at: new Date('2030-02-09T00:00:00Z'),
      })
      .execute()
    return { ...org, invoiceId }
  }
  const stateOf = async (id: string) =>
    await w.db.selectFrom('invoice').select(['status', 'failure', 'due_cents']).where('id', '=', id).executeTakeFirstOrThrow()

  const paying = await owing()
  await w.ok(paying.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await w.runTask(collectInvoice, { invoice_id: paying.invoiceId })
  await w.runTask(collectInvoice, { invoice_id: paying.invoiceId })
  assert.deepEqual(await stateOf(paying.invoiceId), { status: 'paid', failure: null, due_cents: 0 })
  const listed = await w.ok(paying.owner.token, 'billing.stripe_invoices.list')
  assert.deepEqual(
    listed.invoices.map((invoice: { status: string; total_aud: number }) => [invoice.status, invoice.total_aud]),
    [['paid', 100]],
    'charged once',
  )

  const funded = await owing()
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: funded.id, credits: 10_500, reason: 'late' })
  await w.runTask(collectInvoice, { invoice_id: funded.invoiceId })
  await w.runTask(collectInvoice, { invoice_id: funded.invoiceId })
  assert.deepEqual(
    [(await stateOf(funded.invoiceId)).status, (await w.ok(funded.owner.token, 'billing.credits.balance')).available_credits],
    ['paid', 500],
    'credits added later pay it, once',
  )

  const failing = await owing()
  await w.runTask(collectInvoice, { invoice_id: failing.invoiceId })
  assert.deepEqual(await stateOf(failing.invoiceId), { status: 'open', failure: 'payment-method-required', due_cents: 10_000 })
  await w.ok(failing.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa_chargeDeclined' })
  w.clock.advance({ days: 8 })
  await w.runTask(chaseInvoices)
  await w.drain(collectInvoice)
  assert.deepEqual(await stateOf(failing.invoiceId), { status: 'past_due', failure: 'card-declined', due_cents: 10_000 })
  Object.assign(failing.owner, await w.signIn(failing.owner))
  assert.equal((await w.ok(failing.owner.token, 'billing.status.get', { organization_id: failing.id })).subscription_status, 'past_due')
  const good = await w.ok(failing.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })
  await w.ok(failing.owner.token, 'payment_methods.set_default', { payment_method_row_id: good.id })
  await w.runTask(chaseInvoices)
  await w.drain(collectInvoice)
  assert.equal((await stateOf(failing.invoiceId)).status, 'paid')
  const status = await w.ok(failing.owner.token, 'billing.status.get', { organization_id: failing.id })
  assert.deepEqual([status.subscription_status, status.billing_mode, status.has_default_card], ['active', 'card', true])
  assert.equal((await w.call(failing.owner.token, 'billing.status.get', { organization_id: paying.id })).status, 403)
})
