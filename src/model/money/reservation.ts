/** Amounts set aside for running work, however it is paid: credits, a card hold, or an accrual for the monthly invoice. */
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { ReservationState, SpendLine } from '#db/tables/money.ts'
import type { Reference } from './ledger.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'mode',
  'reference_type as referenceType',
  'reference_id as referenceId',
  'credits',
  'captured_credits as capturedCredits',
  'refunded_credits as refundedCredits',
  'state',
  'failure',
] as const

export type Reservation = Row<'reservation', typeof COLUMNS>

const reservations = (db: Db) => db.selectFrom('reservation').select(COLUMNS)

export const referenceOf = ({ referenceType, referenceId }: Reservation): Reference => ({ type: referenceType, id: referenceId })

/** Locked until the transaction ends, so that a reservation is settled only once. */
export async function lock(tx: Tx, organizationId: string, reference: Reference): Promise<Reservation | null> {
  const row = await reservations(tx)
    .where('org_id', '=', organizationId)
    .where('reference_type', '=', reference.type)
    .where('reference_id', '=', reference.id)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

export async function findFor(db: Db, organizationId: string, reference: Reference): Promise<Reservation | null> {
  const row = await reservations(db)
    .where('org_id', '=', organizationId)
    .where('reference_type', '=', reference.type)
    .where('reference_id', '=', reference.id)
    .executeTakeFirst()
  return row ?? null
}

export async function find(db: Db, id: string): Promise<Reservation | null> {
  return (await reservations(db).where('id', '=', id).executeTakeFirst()) ?? null
}

interface ReservationMove {
  from: readonly ReservationState[]
  to: ReservationState
  capturedCredits?: number
  failure?: string | null
}

/** For reservations without credits; the ledger changes the others. Returns false if the current state does not allow the move. */
export async function move(tx: Tx, id: string, { from, to, capturedCredits, failure }: ReservationMove, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('reservation')
    .set({
      state: to,
      settled_at: to === 'captured' || to === 'released' ? now : null,
      ...(capturedCredits === undefined ? {} : { captured_credits: capturedCredits }),
      ...(failure === undefined ? {} : { failure }),
    })
    .where('id', '=', id)
    .where((or) => or.or([or('mode', '<>', 'credit'), or('credits', '=', 0)]))
    .where('state', 'in', [...from])
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** For a locked reservation without credits. */
export async function setRefunded(tx: Tx, id: string, refundedCredits: number): Promise<void> {
  await tx.updateTable('reservation').set({ refunded_credits: refundedCredits }).where('id', '=', id).execute()
}

/** For a locked reservation without credits. */
export async function setPrice(tx: Tx, id: string, credits: number, lines: readonly SpendLine[]): Promise<void> {
  await tx
    .updateTable('reservation')
    .set({ credits, lines: JSON.stringify(lines) })
    .where('id', '=', id)
    .execute()
}

/** Reservations that were decided but not carried out at the processor, and live ones past their deadline. */
export async function unsettled(
  db: Db,
  { organizationId, now, limit }: { organizationId: string | null; now: Date; limit: number },
): Promise<Reservation[]> {
  const matching = reservations(db).$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
  const decided = await matching.where('state', 'in', ['capturing', 'releasing']).orderBy('created_at').limit(limit).execute()
  const overdue = await matching
    .where('state', '=', 'live')
    .where('deadline_at', '<=', now)
    .orderBy('deadline_at')
    .limit(limit - decided.length)
    .execute()
  return [...decided, ...overdue]
}
