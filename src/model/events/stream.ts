/**
 * The outbox as a stream. Events are ordered by the transactions that wrote them and become visible when every older transaction has
 * ended. So nothing can appear before a reader's position, which a sequence could not guarantee. Transaction IDs are counted from the
 * start of the epoch (`epoch.ts`), because a restored database continues with those of another cluster.
 */
import { sql } from 'kysely'
import { isUuid } from '#core/ids.ts'
import type { PublishedEvent } from '#core/webhooks.ts'
import type { Db } from '#db/tables.ts'

/** A position between two events. Transaction IDs have 64 bits, so they are strings here. */
export interface Position {
  txid: string
  seq: number
}

export interface StreamedEvent extends PublishedEvent {
  position: Position
  /** Members of the private project the event is about; null if everyone in the organization can read it. */
  readers: string[] | null
}

export const isBefore = (a: Position, b: Position): boolean => (a.txid === b.txid ? a.seq < b.seq : BigInt(a.txid) < BigInt(b.txid))

/** A snapshot of what is committed: everything below `end` except transactions still in progress. */
export interface Moment {
  /** Behind every visible event. */
  head: Position
  end: bigint
  underWay: ReadonlySet<string>
}

export async function now(db: Db): Promise<Moment> {
  const { rows } = await sql<{ snapshot: string; start: string }>`
    select pg_current_snapshot()::text as snapshot, event_epoch_start()::text as start
  `.execute(db)
  const { snapshot, start } = rows[0]!
  const [first, end, underWay] = snapshot.split(':') as [string, string, string]
  const positionOfTransaction = (txid: string): string => (BigInt(start) + BigInt(txid)).toString()
  return {
    head: { txid: positionOfTransaction(first), seq: 0 },
    end: BigInt(positionOfTransaction(end)),
    underWay: new Set(underWay.split(',').filter(Boolean).map(positionOfTransaction)),
  }
}

/** While an older transaction is in progress, an event becomes visible long after its commit. */
export const wasCommitted = ({ txid }: Position, { end, underWay }: Moment): boolean => BigInt(txid) < end && !underWay.has(txid)

/** Returns null if the organization has no such event. */
export async function positionOf(db: Db, organizationId: string, eventId: string): Promise<Position | null> {
  if (!isUuid(eventId)) return null
  const { rows } = await sql<Position>`
    select txid::text as txid, seq from event where id = ${eventId} and org_id = ${organizationId}
  `.execute(db)
  return rows[0] ?? null
}

interface StreamRow extends Omit<StreamedEvent, 'position'>, Position {}

/** The events after each position, with a limit per organization. */
export async function after(
  db: Db,
  places: readonly { organizationId: string; position: Position }[],
  limit: number,
): Promise<StreamedEvent[]> {
  const { rows } = await sql<StreamRow>`
    select e.txid::text as txid, e.seq, e.id, e.type, e.org_id as "organizationId", e.entity_type as "entityType",
      e.entity_id as "entityId", e.data, e.occurred_at as "occurredAt",
      case when p.visibility = 'private'
        then array(select m.user_id::text from project_member m where m.project_id = e.project_id) end as readers
    from unnest(${places.map(({ organizationId }) => organizationId)}::uuid[],
      ${places.map(({ position }) => position.txid)}::text[]::xid8[],
      ${places.map(({ position }) => position.seq)}::bigint[]) as place (org_id, txid, seq)
    cross join lateral (
      select * from event e
      where e.org_id = place.org_id and (e.txid, e.seq) > (place.txid, place.seq)
        and e.txid < (pg_snapshot_xmin(pg_current_snapshot())::text::numeric + event_epoch_start())::text::xid8
      order by e.txid, e.seq limit ${limit}
    ) e
    left join project p on p.id = e.project_id
    order by e.org_id, e.txid, e.seq
  `.execute(db)
  return rows.map(({ txid, seq, ...event }) => ({ ...event, position: { txid, seq } }))
}
