/** Access tokens of hosts, one row for each; the adapter encrypts what a row must not reveal. */
import { sql } from 'kysely'
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import type { VendorTokens } from '#ports/vendor-tokens.ts'

export function createVendorTokens(db: Db, clock: Clock): VendorTokens {
  const rowOf = (hostName: string, name: string) =>
    db.updateTable('vendor_token').where('host_name', '=', hostName).where('name', '=', name)
  return {
    async find(hostName, name) {
      const row = await db
        .selectFrom('vendor_token')
        .select(['value', 'version', 'obtained_at as obtainedAt', 'expires_at as expiresAt'])
        .where('host_name', '=', hostName)
        .where('name', '=', name)
        .executeTakeFirst()
      if (!row || row.value === null) return null
      return { value: row.value, version: row.version!, obtainedAt: row.obtainedAt!, expiresAt: row.expiresAt! }
    },
    async claim(hostName, name, until) {
      const { rows } = await sql`
        insert into vendor_token (host_name, name, renewing_until) values (${hostName}, ${name}, ${until})
        on conflict (host_name, name) do update set renewing_until = excluded.renewing_until
        where coalesce(vendor_token.renewing_until, '-infinity') <= ${clock.now()}
        returning 1
      `.execute(db)
      return rows.length > 0
    },
    async store(hostName, name, { value, version, obtainedAt, expiresAt }) {
      await rowOf(hostName, name).set({ value, version, obtained_at: obtainedAt, expires_at: expiresAt, renewing_until: null }).execute()
    },
    async release(hostName, name) {
      await rowOf(hostName, name).set({ renewing_until: null }).execute()
    },
  }
}
