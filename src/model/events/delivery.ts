/** The queue of webhook deliveries: any number of workers claim them in batches, each delivery under a lease. */
import { sql, type RawBuilder } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { notFound, problem } from '#core/problem.ts'
import type { DeliveryState } from '#core/vocabulary.ts'
import type { PublishedEvent } from '#core/webhooks.ts'
import type { Joined } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { inBatches } from '#db/in-batches.ts'
import { mayRead, RIGHTS } from './audience.ts'
import { MAX_SUBSCRIPTIONS } from './subscription.ts'

export interface Claimed {
  id: string
  subscriptionId: string
  organizationId: string
  endpointKey: string
  lease: string
  tries: number
  url: string
  headers: Record<string, string>
  secrets: string[]
  /** False if the user behind the subscription can no longer read what the event is about. */
  isReadable: boolean
  event: PublishedEvent
}

interface ClaimLimits {
  total: number
  perEndpoint: number
  /** Endpoints with a different number of free slots than the default. */
  free: ReadonlyMap<string, number>
  leaseSeconds: number
}

interface ClaimedRow extends Omit<Claimed, 'event' | 'secrets' | 'lease'> {
  secret: string
  previousSecret: string | null
  eventId: string
  eventType: string
  entityType: string
  entityId: string
  data: Record<string, unknown>
  occurredAt: Date
}

interface DeliveryBacklog {
  /** Counted up to `MAX_COUNTED`. */
  deliveries: number
  /** How long the first one has been due. */
  oldestSeconds: number
}

const MAX_COUNTED = 100_000

/** Deliveries that are due and have not been sent, of all organizations. */
export async function backlog(db: Db, now: Date): Promise<DeliveryBacklog> {
  const { rows } = await sql<DeliveryBacklog>`
    select count(*)::int as deliveries, coalesce(extract(epoch from ${now}::timestamptz - min(due_at)), 0)::float8 as "oldestSeconds"
    from (select due_at from webhook_delivery where state = 'pending' and due_at <= ${now} limit ${MAX_COUNTED}) as due
  `.execute(db)
  return rows[0]!
}

/**
 * A delivery has the time of its event, so that both are in partitions of the same month, and a join reads only that one.
 *
 * Claims due deliveries, a share of every endpoint: the index scan visits each endpoint once, so that a long queue for one endpoint
 * does not delay the others. Due times use the platform's clock; leases use real time, measured by the database that all processes
 * share.
 */
export async function claim(db: Db, limits: ClaimLimits, now: Date): Promise<Claimed[]> {
  const lease = newId()
  const { rows } = await sql<ClaimedRow>`
    with recursive endpoint (key) as (
      (select endpoint_key from webhook_delivery where state = 'pending' order by endpoint_key limit 1)
      union all
      select (select d.endpoint_key from webhook_delivery d where d.state = 'pending' and d.endpoint_key > endpoint.key
        order by d.endpoint_key limit 1)
      from endpoint where endpoint.key is not null
    ), due as materialized (
      select d.id, d.created_at from endpoint
      left join unnest(${[...limits.free.keys()]}::bigint[], ${[...limits.free.values()]}::int[]) as allowed (key, free)
        on allowed.key = endpoint.key
      cross join lateral (
        select d.id, d.created_at, d.due_at from webhook_delivery d
        where d.state = 'pending' and d.endpoint_key = endpoint.key and d.due_at <= ${now}
          and (d.lease_until is null or d.lease_until < clock_timestamp())
        order by d.due_at limit coalesce(allowed.free, ${limits.perEndpoint}) for update skip locked
      ) d
      where endpoint.key is not null
      order by d.due_at limit ${limits.total}
    ), claimed as (
      update webhook_delivery d
      set lease = ${lease}, lease_until = clock_timestamp() + make_interval(secs => ${limits.leaseSeconds})
      from due where d.id = due.id and d.created_at = due.created_at
      returning d.id, d.created_at, d.subscription_id, d.event_seq, d.endpoint_key, d.tries
    )
    select c.id, c.subscription_id as "subscriptionId", w.org_id as "organizationId", c.endpoint_key::text as "endpointKey", c.tries,
      w.endpoint_url as url, w.headers, w.secret, case when w.previous_secret_until > ${now} then w.previous_secret end as "previousSecret",
      ${mayRead} as "isReadable",
      e.id as "eventId", e.type as "eventType", e.entity_type as "entityType", e.entity_id as "entityId", e.data,
      e.occurred_at as "occurredAt"
    from claimed c join event_subscription w on w.id = c.subscription_id 
      join event e on e.seq = c.event_seq and e.occurred_at = c.created_at
    ${RIGHTS}
  `.execute(db)
  return rows.map(({ secret, previousSecret, eventId, eventType, entityType, entityId, data, occurredAt, ...row }) => ({
    ...row,
    lease,
    secrets: previousSecret ? [secret, previousSecret] : [secret],
    event: { id: eventId, type: eventType, organizationId: row.organizationId, entityType, entityId, data, occurredAt },
  }))
}

/** Deliveries of one organization that can wait in the queue; further events wait in the backlog. */
export const MAX_WAITING = 10_000
/** The maximum for one event: the number of subscriptions an organization can have. */
const MAX_PER_EVENT = MAX_SUBSCRIPTIONS
const ORGANIZATIONS_PER_PASS = 20

/** How many more deliveries of an organization fit in the queue: none while earlier events wait in the backlog. */
export const queueCapacity = (organizationId: string | RawBuilder<string>): RawBuilder<number> => sql<number>`
  case when exists (select from webhook_backlog b where b.org_id = ${organizationId}) then 0 else ${freeFor(organizationId)} end`

const freeFor = (organizationId: string | RawBuilder<string>): RawBuilder<number> => sql<number>`(${MAX_WAITING}::int - (
  select count(*) from (
    select from webhook_delivery d
    where d.state = 'pending' and d.endpoint_key in (select s.endpoint_key from event_subscription s where s.org_id = ${organizationId})
    limit ${MAX_WAITING}
  ) pending
) - (
  select count(*) from (
    select from webhook_delivery d
    where d.state = 'held' and d.endpoint_key in (select s.endpoint_key from event_subscription s where s.org_id = ${organizationId})
    limit ${MAX_WAITING}
  ) held
))`

/**
 * Moves events from the backlog to the queue, oldest first, as far as each organization's queue has capacity. A subscription deleted
 * meanwhile receives nothing; deliveries to a paused one wait until it is resumed.
 */
export async function admit(db: Db, now: Date): Promise<void> {
  const { rows } = await sql<{ organizationId: string; free: number }>`
    select o.org_id as "organizationId", ${freeFor(sql<string>`o.org_id`)} as free
    from (select distinct org_id from webhook_backlog limit ${ORGANIZATIONS_PER_PASS}) o
  `.execute(db)
  for (const { organizationId, free } of rows) {
    const events = Math.floor(free / MAX_PER_EVENT)
    if (events < 1) continue
    await sql`
      with taken as (
        delete from webhook_backlog b using (
          select event_seq from webhook_backlog where org_id = ${organizationId} order by event_seq limit ${events} for update skip locked
        ) oldest
        where b.org_id = ${organizationId} and b.event_seq = oldest.event_seq
        returning b.event_seq, b.subscription_ids, b.created_at
      )
      insert into webhook_delivery (subscription_id, event_seq, endpoint_key, state, since, due_at, created_at)
      select s.id, t.event_seq, s.endpoint_key, case when s.is_active then 'pending' else 'held' end, ${now}, ${now}, t.created_at
      from taken t join event_subscription s on s.id = any(t.subscription_ids)
      for key share of s
    `.execute(db)
  }
}

export interface Attempt {
  id: string
  at: Date
  durationMs: number
  httpStatus: number | null
  error: string | null
  start: string
}

/** The result of a claimed delivery. */
export interface Outcome {
  delivery: Pick<Claimed, 'id' | 'lease' | 'subscriptionId' | 'organizationId'>
  /** Null if it ended without being sent. */
  attempt: Attempt | null
  state: 'delivered' | 'pending' | 'dead'
  dueAt: Date | null
  reason: string | null
}

/** A subscription whose deliveries ended; `hasReached` if its consecutive failures just reached the number to notify at. */
interface SubscriptionStatus {
  id: string
  organizationId: string
  endpointUrl: string
  hasReached: boolean
  deadCount: number
}

/**
 * Writes outcomes in one batch. The commit does not wait for the disk: an outcome lost in a crash only means that the delivery is sent
 * again, which receivers expect. If the lease was lost, only the attempt is recorded.
 */
export async function finish(tx: Tx, outcomes: readonly Outcome[], notifyAt: number, now: Date): Promise<SubscriptionStatus[]> {
  await sql`set local synchronous_commit = off`.execute(tx)
  const attempted = outcomes.filter(({ attempt }) => attempt !== null)
  const { rows: ended } = await sql<{ subscriptionId: string; state: Outcome['state'] }>`
    update webhook_delivery d set tries = d.tries + o.sent, due_at = coalesce(o.due_at, d.due_at), lease = null, lease_until = null,
      state = case when o.state = 'pending' then d.state else o.state end, reason = o.reason,
      ended_at = case when o.state <> 'pending' then ${now}::timestamptz end
    from unnest(${outcomes.map(({ delivery }) => delivery.id)}::uuid[], ${outcomes.map(({ delivery }) => delivery.lease)}::uuid[],
      ${outcomes.map(({ attempt }) => (attempt ? 1 : 0))}::int[], ${outcomes.map(({ state }) => state)}::text[],
      ${outcomes.map(({ dueAt }) => dueAt)}::timestamptz[], ${outcomes.map(({ reason }) => reason)}::text[])
      as o (id, lease, sent, state, due_at, reason)
    where d.id = o.id and d.lease = o.lease and d.state in ('pending', 'held')
    returning d.subscription_id as "subscriptionId", o.state
  `.execute(tx)
  if (attempted.length > 0) await insertAttempts(tx, attempted)
  return await updateSubscriptions(tx, ended, notifyAt, now)
}

async function insertAttempts(tx: Tx, outcomes: readonly Outcome[]): Promise<void> {
  const attempts = outcomes.map(({ attempt }) => attempt!)
  await sql`
    insert into webhook_attempt (id, delivery_id, at, duration_ms, http_status, error, response_start)
    select a.* from unnest(${attempts.map(({ id }) => id)}::uuid[], ${outcomes.map(({ delivery }) => delivery.id)}::uuid[],
      ${attempts.map(({ at }) => at)}::timestamptz[], ${attempts.map(({ durationMs }) => durationMs)}::int[],
      ${attempts.map(({ httpStatus }) => httpStatus)}::int[], ${attempts.map(({ error }) => error)}::text[],
      ${attempts.map(({ start }) => start)}::text[]) as a (id, delivery_id, at, duration_ms, http_status, error, response_start)
    where exists (select from webhook_delivery d where d.id = a.delivery_id)
  `.execute(tx)
}

/** Rows are locked in the order of their IDs to avoid deadlocks between workers. */
async function updateSubscriptions(
  tx: Tx,
  ended: readonly { subscriptionId: string; state: Outcome['state'] }[],
  notifyAt: number,
  now: Date,
): Promise<SubscriptionStatus[]> {
  const counts = new Map<string, { failed: number; dead: number; delivered: number }>()
  for (const { subscriptionId, state } of ended) {
    const count = counts.get(subscriptionId) ?? { failed: 0, dead: 0, delivered: 0 }
    if (state === 'delivered') count.delivered++
    else count.failed++
    if (state === 'dead') count.dead++
    counts.set(subscriptionId, count)
  }
  const ids = [...counts.keys()].toSorted()
  if (ids.length === 0) return []
  const of = (pick: (count: { failed: number; dead: number; delivered: number }) => number) => ids.map((id) => pick(counts.get(id)!))
  const { rows } = await sql<SubscriptionStatus>`
    with held as materialized (select id from event_subscription where id = any(${ids}::uuid[]) order by id for no key update)
    update event_subscription s set last_delivery_at = ${now},
      last_status = case when n.delivered > 0 then 'delivered' else 'failed' end,
      consecutive_failures = case when n.delivered > 0 then 0 else s.consecutive_failures + n.failed end
    from held, unnest(${ids}::uuid[], ${of(({ failed }) => failed)}::int[], ${of(({ dead }) => dead)}::int[],
      ${of(({ delivered }) => delivered)}::int[]) as n (id, failed, dead, delivered)
    where s.id = held.id and n.id = held.id
    returning s.id, s.org_id as "organizationId", s.endpoint_url as "endpointUrl", n.dead as "deadCount",
      s.consecutive_failures >= ${notifyAt} and s.consecutive_failures - n.failed < ${notifyAt} as "hasReached"
  `.execute(tx)
  return rows
}

function deliveries(db: Db, subscriptionId: string) {
  return db
    .selectFrom('webhook_delivery as d')
    .innerJoin('event as e', (join) => join.onRef('e.seq', '=', 'd.event_seq').onRef('e.occurred_at', '=', 'd.created_at'))
    .select([
      'd.id',
      'd.subscription_id as subscriptionId',
      'e.id as eventId',
      'e.type as eventType',
      'd.state',
      'd.tries',
      'd.due_at as dueAt',
      'd.created_at as createdAt',
      'd.ended_at as endedAt',
      'd.reason',
    ])
    .where('d.subscription_id', '=', subscriptionId)
}

type DeliveryRow = Joined<typeof deliveries>

export interface Delivery extends DeliveryRow {
  attempts: ShownAttempt[]
}

function attempts(db: Db, deliveryIds: readonly string[]) {
  return db
    .selectFrom('webhook_attempt')
    .select([
      'id',
      'delivery_id as deliveryId',
      'at',
      'duration_ms as durationMs',
      'http_status as httpStatus',
      'error',
      'response_start as responseStart',
    ])
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('at')
    .orderBy('id')
}

type ShownAttempt = Joined<typeof attempts>

/** Newest first, with their attempts. */
export async function list(
  db: Db,
  subscriptionId: string,
  window: { state: DeliveryState | null; limit: number; offset: number },
): Promise<Delivery[]> {
  const rows = await deliveries(db, subscriptionId)
    .$if(window.state !== null, (query) => query.where('d.state', '=', window.state!))
    .orderBy('d.event_seq', 'desc')
    .limit(window.limit)
    .offset(window.offset)
    .execute()
  return await withAttempts(db, rows)
}

async function withAttempts(db: Db, rows: readonly DeliveryRow[]): Promise<Delivery[]> {
  if (rows.length === 0) return []
  const attemptRows = await attempts(
    db,
    rows.map(({ id }) => id),
  ).execute()
  const byDelivery = Map.groupBy(attemptRows, ({ deliveryId }) => deliveryId)
  return rows.map((row) => ({ ...row, attempts: byDelivery.get(row.id) ?? [] }))
}

/** The subscription of a delivery of this organization. */
export async function requireSubscription(db: Db, organizationId: string, id: string): Promise<string> {
  const row = isUuid(id)
    ? await db
        .selectFrom('webhook_delivery as d')
        .innerJoin('event_subscription as s', 's.id', 'd.subscription_id')
        .select('s.id')
        .where('d.id', '=', id)
        .where('s.org_id', '=', organizationId)
        .executeTakeFirst()
    : undefined
  if (!row) throw notFound('delivery')
  return row.id
}

/** Restarts the retry schedule now. Rejected for a delivery that succeeded, or is still waiting for its first attempt. */
export async function retry(tx: Tx, subscriptionId: string, id: string, now: Date): Promise<Delivery> {
  const result = await tx
    .updateTable('webhook_delivery')
    .set({
      state: sql<DeliveryState>`
        case when (select is_active from event_subscription s where s.id = subscription_id) then 'pending' else 'held' end`,
      tries: 0,
      since: now,
      due_at: now,
      ended_at: null,
      reason: null,
    })
    .where('id', '=', id)
    .where((where) =>
      where.or([where('state', '=', 'dead'), where.and([where('state', 'in', ['pending', 'held']), where('tries', '>', 0)])]),
    )
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) throw problem('bad-request', 'Only a failed delivery can be retried')
  const [row] = await withAttempts(tx, await deliveries(tx, subscriptionId).where('d.id', '=', id).execute())
  return row!
}

const GIVEN_UP = 'The endpoint accepted nothing for too long, so the delivery was abandoned'

/** Dead-letters deliveries that waited too long, and deletes old ones that ended. */
export async function sweep(db: Db, now: Date, limits: { giveUpBefore: Date; forgetBefore: Date | null }): Promise<void> {
  await inBatches((limit) => giveUp(db, now, limits.giveUpBefore, limit))
  if (limits.forgetBefore) {
    const isOld = sql<boolean>`d.ended_at < ${limits.forgetBefore}`
    await inBatches((limit) => remove(db, sql`select d.id, d.created_at from webhook_delivery d where ${isOld} limit ${limit}`))
  }
  await inBatches((limit) => remove(db, superfluous(limit)))
}

async function giveUp(db: Db, now: Date, before: Date, limit: number): Promise<number> {
  const isDue = sql<boolean>`d.state = 'pending' and d.since < ${before} and (d.lease_until is null or d.lease_until < clock_timestamp())`
  const { numAffectedRows } = await sql`
    update webhook_delivery g set state = 'dead', ended_at = ${now}, reason = ${GIVEN_UP}, lease = null, lease_until = null
    from (select d.id, d.created_at from webhook_delivery d where ${isDue} limit ${limit} for update skip locked) due
    where g.id = due.id and g.created_at = due.created_at
  `.execute(db)
  return Number(numAffectedRows)
}

/** Removes deliveries with their attempts. Returns the number of deliveries. */
async function remove(db: Db, chosen: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    with gone as (
      delete from webhook_delivery d using (${chosen}) chosen where d.id = chosen.id and d.created_at = chosen.created_at
        and d.ended_at is not null
      returning d.id
    ), attempts as (
      delete from webhook_attempt a using gone where a.delivery_id = gone.id
    )
    select count(*)::int as removed from gone
  `.execute(db)
  return rows[0]!.removed
}

/** Successful deliveries kept per organization; dead letters are kept for their full time. */
export const MAX_DELIVERED = 10_000

const superfluous = (limit: number) => sql`
  select id, created_at from (
    select d.id, d.created_at, row_number() over (partition by s.org_id order by d.ended_at desc, d.id) as nth
    from webhook_delivery d join event_subscription s on s.id = d.subscription_id where d.state = 'delivered'
  ) delivered where nth > ${MAX_DELIVERED} limit ${limit}`
