import { sql, type Kysely } from 'kysely'

/** What vendors charge, in their own currencies, and who sends an order to its vendor at the moment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table order_group
      -- What the vendor is expected to charge, in cents of its currency; null: by contract, or an order from before this migration.
      add column vendor_currency text check (vendor_currency ~ '^[A-Z]{3}$'),
      add column vendor_cents bigint check (vendor_cents >= 0),
      -- How that became credits: Australian dollars for one unit, the day of the rate, and the percentages added.
      add column exchange_rate double precision check (exchange_rate > 0),
      add column exchange_day date,
      add column exchange_margin_percent double precision,
      add column markup_percent double precision,
      -- What the vendor says it charged.
      add column vendor_charged_cents bigint check (vendor_charged_cents >= 0),
      -- One run sends the group to its vendor until then; it extends the time while it lives.
      add column placing_run_id uuid,
      add column placing_until timestamptz;
  `.execute(db)
}
