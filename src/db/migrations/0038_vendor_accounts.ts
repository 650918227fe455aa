import { sql, type Kysely } from 'kysely'

/** Accounts that organizations have at vendors. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table vendor_account (
      id uuid primary key,
      org_id uuid not null references organization (id),
      host_name text not null,
      -- Encrypted with a key that is not in the database.
      secret text not null,
      -- What can be shown of it: a user name, or the last characters of a key.
      hint text not null,
      status text not null check (status in ('unchecked', 'accepted', 'refused')),
      -- What the vendor said at the last check.
      detail text,
      checked_at timestamptz,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (org_id, host_name)
    );

    -- Null: the operator's account pays the vendor, and the organization pays us.
    alter table order_group add column vendor_account_id uuid;
    alter table order_group add constraint order_group_vendor_account_id_fkey
      foreign key (vendor_account_id) references vendor_account (id) on delete set null not valid;
    -- Kept after the account was deleted.
    alter table order_group add column is_billed_by_vendor boolean not null default false;
  `.execute(db)
}
