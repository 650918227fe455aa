/** Whether hosts respond, as the last probe of any process found. A claim lets one process probe a host at a time. */
import { sql } from 'kysely'
import type { Row } from '#db/row.ts'
import type { Db } from '#db/tables.ts'

const COLUMNS = ['host_name as hostName', 'status', 'since', 'checked_at as checkedAt', 'error', 'response_ms as responseMs'] as const

export type HostState = Row<'vendor_host', typeof COLUMNS>

/** By host name; a host that was never probed is missing. */
export async function list(db: Db): Promise<ReadonlyMap<string, HostState>> {
  const states = await db.selectFrom('vendor_host').select(COLUMNS).execute()
  return new Map(states.map((state) => [state.hostName, state]))
}

interface Claim {
  readonly now: Date
  /** Other processes leave the host alone until then. */
  readonly until: Date
  /** Probes the host early, unless it was probed after this time. */
  readonly unlessSince?: Date
}

/** The previous state, if the host is due; null if it is not, or another process probes it. */
export async function claim(db: Db, hostName: string, { now, until, unlessSince }: Claim): Promise<HostState | null> {
  const { rows } = await sql<HostState>`
    insert into vendor_host (host_name, next_probe_at) values (${hostName}, ${until})
    on conflict (host_name) do update set next_probe_at = excluded.next_probe_at
    where vendor_host.next_probe_at <= ${now}
      or (${unlessSince ?? null}::timestamptz is not null and vendor_host.checked_at <= ${unlessSince ?? null})
    returning host_name as "hostName", status, since, checked_at as "checkedAt", error, response_ms as "responseMs"
  `.execute(db)
  return rows[0] ?? null
}

interface Finding {
  readonly hostName: string
  /** Null: the host responds. */
  readonly error: string | null
  readonly responseMs: number
  readonly now: Date
  readonly nextProbeAt: Date
}

export async function record(db: Db, { hostName, error, responseMs, now, nextProbeAt }: Finding): Promise<void> {
  const status = error === null ? 'reachable' : 'unreachable'
  await db
    .updateTable('vendor_host')
    .set({
      status,
      error,
      since: sql`case when status = ${status} then since else ${now}::timestamptz end`,
      checked_at: now,
      ...(error === null ? { response_ms: Math.round(responseMs) } : {}),
      next_probe_at: nextProbeAt,
    })
    .where('host_name', '=', hostName)
    .execute()
}
