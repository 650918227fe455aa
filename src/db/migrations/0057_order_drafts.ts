import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Orders that members prepare: one cart for each member, and drafts with a name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table order_draft (
      org_id uuid not null references organization (id),
      id uuid not null,
      -- Whose it is; nobody else sees it.
      user_id uuid not null references app_user (id),
      -- Null for the cart.
      name text,
      captures jsonb not null check (jsonb_typeof(captures) = 'array'),
      -- Raised by every change, so that a device that was offline does not undo what another one did.
      version integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (org_id, id)
    );
    create unique index order_draft_cart on order_draft (org_id, user_id) where name is null;
    create unique index order_draft_name on order_draft (org_id, user_id, name) where name is not null;
    create index order_draft_user on order_draft (user_id);
  `.execute(db)
}
