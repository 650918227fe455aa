/** Random movements of money, each run against the real ledger and against a plain model of it that a person can read. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as ledgers from '#model/money/ledger.ts'

interface Model {
  available: number
  reserved: number
  captured: number
  reservations: { id: string; credits: number; captured: number; refunded: number; state: 'live' | 'captured' | 'released' }[]
  intents: string[]
}

interface Real {
  db: Db
  organizationId: string
  steps: { count: number }
}

const emptyModel = (): Model => ({ available: 0, reserved: 0, captured: 0, reservations: [], intents: [] })

type Command = fc.AsyncCommand<Model, Real>

const now = new Date('2030-01-01T00:00:00.000Z')
const cause = (organizationId: string) => ({ organizationId, invocationId: newId(), now, reference: { type: 'order', id: newId() } })
const inside = <T>({ db }: Real, work: (tx: Tx) => Promise<T>) => db.transaction().execute(work)

/** Everything the wallet, the reservations and the transfers say must be what the model says, after every command. */
async function compare(model: Model, { db, organizationId }: Real): Promise<void> {
  const { rows } = await sql<Record<string, number>>`
    select coalesce((select available from wallet where org_id = ${organizationId}), 0) as available,
      coalesce((select reserved from wallet where org_id = ${organizationId}), 0) as reserved,
      (select coalesce(sum(credits), 0)::bigint from reservation where org_id = ${organizationId} and state = 'live') as live,
      (select coalesce(sum(captured_credits - refunded_credits), 0)::bigint from reservation where org_id = ${organizationId}) as kept,
      coalesce(sum(case when target = 'available' then credits when source = 'available'
        then -credits end), 0)::bigint as entered_available,
      coalesce(sum(case when target = 'reserved' then credits when source = 'reserved' then -credits end), 0)::bigint as entered_reserved,
      coalesce(sum(case when target = 'captured' then credits when source = 'captured' then -credits end), 0)::bigint as entered_captured,
      coalesce((array_agg(available_after order by seq desc))[1], 0) as last_available,
      coalesce((array_agg(reserved_after order by seq desc))[1], 0) as last_reserved
    from ledger_transfer where org_id = ${organizationId}`.execute(db)
  const { available, reserved, captured, reservations } = model
  const kept = reservations.reduce((sum, reservation) => sum + reservation.captured - reservation.refunded, 0)
  assert.deepEqual(rows[0], {
    available,
    reserved,
    live: reserved,
    kept,
    entered_available: available,
    entered_reserved: reserved,
    entered_captured: captured,
    last_available: available,
    last_reserved: reserved,
  })
}

/** A command that does something to both, and then compares them. */
function command(
  name: string,
  act: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, real) {
      await act(model, real)
      real.steps.count++
      await compare(model, real)
    },
    toString: () => name,
  }
}

const grant = (credits: number) =>
  command(`grant ${credits}`, async (model, real) => {
    await inside(real, (tx) => ledgers.credit(tx, cause(real.organizationId), [{ type: 'grant', credits }]))
    model.available += credits
  })

const topup = (credits: number, bonus: number) =>
  command(`topup ${credits} + ${bonus}`, async (model, real) => {
    const intent = `pi_${newId()}`
    const pay = () =>
      inside(real, (tx) =>
        ledgers.credit(
          tx,
          cause(real.organizationId),
          [
            { type: 'topup', credits },
            { type: 'bonus', credits: bonus },
          ],
          intent,
        ),
      )
    const paid = (await Promise.all([pay(), pay(), pay()])).filter((after) => after !== null)
    assert.equal(paid.length, 1, 'one of three notices of a payment grants')
    model.intents.push(intent)
    model.available += credits + bonus
  })

const lateNotice = (nth: number) =>
  command(
    `late notice ${nth}`,
    async (model, real) => {
      const intent = model.intents[nth % model.intents.length]!
      assert.equal(
        await inside(real, (tx) => ledgers.credit(tx, cause(real.organizationId), [{ type: 'topup', credits: 1 }], intent)),
        null,
      )
    },
    ({ intents }) => intents.length > 0,
  )

const newReservation = (credits: number) => ({
  id: newId(),
  mode: 'credit' as const,
  credits,
  userId: null,
  apiKeyId: null,
  countsForCaps: true,
  lines: [],
  deadlineAt: null,
  approvalId: null,
})

/** Several equal reservations at once: exactly as many succeed as the balance bears, whatever their order. */
const reserve = (credits: number, times: number) =>
  command(`reserve ${times} × ${credits}`, async (model, real) => {
    const reservations = Array.from({ length: times }, () => newReservation(credits))
    const after = await Promise.all(
      reservations.map((reservation) => inside(real, (tx) => ledgers.reserve(tx, cause(real.organizationId), reservation))),
    )
    const succeeded = reservations.filter((_, index) => after[index] !== null)
    assert.equal(succeeded.length, Math.min(times, Math.floor(model.available / credits)))
    for (const { id } of succeeded) model.reservations.push({ id, credits, captured: 0, refunded: 0, state: 'live' })
    model.available -= succeeded.length * credits
    model.reserved += succeeded.length * credits
  })

const pick = (model: Model, nth: number) => model.reservations[nth % model.reservations.length]!
const hasReservations = ({ reservations }: Readonly<Model>) => reservations.length > 0

/** A capture and a release of the same reservation at once: one of them happens, or neither when it was settled before. */
const settle = (nth: number, part: number) =>
  command(
    `settle ${nth} at ${part}%`,
    async (model, real) => {
      const reservation = pick(model, nth)
      const owed = Math.max(1, Math.floor((reservation.credits * part) / 100))
      const attempt = (captured: number) => inside(real, (tx) => ledgers.settle(tx, cause(real.organizationId), reservation.id, captured))
      const [captured, released, again] = await Promise.all([attempt(owed), attempt(0), attempt(owed)])
      const done = [captured, released, again].filter((after) => after !== null)
      assert.equal(done.length, reservation.state === 'live' ? 1 : 0, 'settled once')
      if (done.length === 0) return
      const taken = released ? 0 : owed
      Object.assign(reservation, { state: released ? 'released' : 'captured', captured: taken })
      model.reserved -= reservation.credits
      model.available += reservation.credits - taken
      model.captured += taken
    },
    hasReservations,
  )

const refund = (nth: number, part: number) =>
  command(
    `refund ${nth} ${part}%`,
    async (model, real) => {
      const reservation = pick(model, nth)
      const back = Math.max(1, Math.floor((reservation.credits * part) / 100))
      const after = await inside(real, (tx) => ledgers.refund(tx, cause(real.organizationId), reservation.id, back))
      assert.equal(after !== null, reservation.state === 'captured' && reservation.refunded + back <= reservation.captured)
      if (!after) return
      reservation.refunded += back
      model.available += back
      model.captured -= back
    },
    hasReservations,
  )

const resize = (nth: number, credits: number) =>
  command(
    `resize ${nth} to ${credits}`,
    async (model, real) => {
      const reservation = pick(model, nth)
      const more = credits - reservation.credits
      const after = await inside(real, (tx) => ledgers.resize(tx, cause(real.organizationId), reservation.id, credits, []))
      assert.equal(after !== null, reservation.state === 'live' && more <= model.available)
      if (!after) return
      reservation.credits = credits
      model.available -= more
      model.reserved += more
    },
    hasReservations,
  )

const debit = (type: 'capture' | 'adjustment', credits: number) =>
  command(`debit ${type} ${credits}`, async (model, real) => {
    const after = await inside(real, (tx) => ledgers.debit(tx, cause(real.organizationId), type, credits))
    assert.equal(after !== null, credits <= model.available)
    if (!after) return
    assert.equal(after.availableBefore, model.available)
    model.available -= credits
    if (type === 'capture') model.captured += credits
  })

/** The process dies, or the caller's transaction fails, after the ledger was written to: nothing of it remains. */
const torn = (credits: number) =>
  command(`torn ${credits}`, async (_model, real) => {
    await assert.rejects(
      inside(real, async (tx) => {
        await ledgers.credit(tx, cause(real.organizationId), [{ type: 'grant', credits }])
        await ledgers.reserve(tx, cause(real.organizationId), newReservation(credits))
        throw new Error('torn')
      }),
      /torn/,
    )
  })

const amount = fc.integer({ min: 1, max: 500 })
const nth = fc.nat({ max: 1_000 })
const percent = fc.integer({ min: 1, max: 100 })

const COMMANDS: fc.Arbitrary<Command>[] = [
  amount.map(grant),
  fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 0, max: 100 })).map(([credits, bonus]) => topup(credits, bonus)),
  nth.map(lateNotice),
  fc.tuple(amount, fc.integer({ min: 1, max: 8 })).map(([credits, times]) => reserve(credits, times)),
  fc.tuple(amount, fc.constant(1)).map(([credits, times]) => reserve(credits, times)),
  fc.tuple(nth, percent).map(([which, part]) => settle(which, part)),
  fc.tuple(nth, percent).map(([which, part]) => refund(which, part)),
  fc.tuple(nth, amount).map(([which, credits]) => resize(which, credits)),
  fc.tuple(fc.constantFrom('capture' as const, 'adjustment' as const), amount).map(([type, credits]) => debit(type, credits)),
  amount.map(torn),
]

interface SimulationOptions {
  db: Db
  commands: number
  /** Organizations whose commands run beside each other. */
  lanes: number
  seed: number
}

const RUN_LENGTH = 80

/** Runs random commands until there were enough; a difference throws with the shortest sequence that shows it. */
export async function simulate({ db, commands, lanes, seed }: SimulationOptions): Promise<{ commands: number; runs: number }> {
  const steps = { count: 0 }
  let runs = 0
  const lane = fc.commands(COMMANDS, { maxCommands: RUN_LENGTH, size: 'max' })
  const property = fc.asyncProperty(fc.array(lane, { minLength: lanes, maxLength: lanes }), async (sequences) => {
    runs++
    await Promise.all(
      sequences.map(async (sequence) => {
        const organizationId = await newOrganization(db)
        await fc.asyncModelRun(() => ({ model: emptyModel(), real: { db, organizationId, steps } }), sequence)
      }),
    )
  })
  for (let round = 0; steps.count < commands; round++) await fc.assert(property, { numRuns: 1, seed: seed + round })
  return { commands: steps.count, runs }
}

export async function newOrganization(db: Db): Promise<string> {
  const id = newId()
  await db
    .insertInto('organization')
    .values({ id, name: 'Simulated', slug: id, retention_since: now, created_at: now, updated_at: now })
    .execute()
  return id
}
