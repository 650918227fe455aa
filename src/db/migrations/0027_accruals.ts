import { sql, type Kysely } from 'kysely'

/** What organizations on account owe, entry by entry: provisional when a spend is agreed, corrected when it ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db)
  await sql`
    create table accrual_entry (
      seq bigint generated always as identity primary key,
      org_id uuid not null,
      reservation_id uuid not null references reservation (id),
      -- provisional: agreed on, not delivered yet. final: the correction to what was delivered. refund: given back later.
      kind text not null check (kind in ('provisional', 'final', 'refund')),
      credits bigint not null,
      -- The invoice of the month that this entry is billed on. It is the only column that can change, once.
      invoice_id uuid references invoice (id),
      invocation_id uuid not null,
      created_at timestamptz not null,
      check (case kind when 'final' then credits <= 0 when 'refund' then credits < 0 else true end)
    );

    insert into accrual_entry (org_id, reservation_id, kind, credits, invoice_id, invocation_id, created_at)
    select r.org_id, r.id, entry.kind, entry.credits, billed.id, r.invocation_id, entry.created_at
    from reservation r
    left join lateral (
      select i.id from invoice i, jsonb_array_elements(i.lines) line
      where i.org_id = r.org_id and r.state = 'captured'
        and line ->> 'kind' in ('order', 'job') and line ->> 'reference_id' = r.reference_id
      limit 1
    ) billed on true
    cross join lateral (values
      ('provisional', r.credits, r.created_at, true),
      ('final', r.captured_credits - r.credits, r.settled_at, r.settled_at is not null),
      ('refund', -r.refunded_credits, r.settled_at, r.refunded_credits > 0)
    ) as entry (kind, credits, created_at, exists)
    where r.mode = 'enterprise' and entry.exists
    order by entry.created_at, r.id;

    create unique index accrual_entry_final on accrual_entry (reservation_id) where kind = 'final';
    create index accrual_entry_reservation on accrual_entry (reservation_id);
    create index accrual_entry_unbilled on accrual_entry (org_id) where invoice_id is null;
    create index accrual_entry_refund on accrual_entry (org_id, created_at) where kind = 'refund';
    create index accrual_entry_invoice on accrual_entry (invoice_id) where invoice_id is not null;
    create index reservation_on_account on reservation (org_id, settled_at) where mode = 'enterprise';

    create function guard_accrual_entry() returns trigger language plpgsql as $$
    begin
      if old.invoice_id is not null or to_jsonb(new) - 'invoice_id' <> to_jsonb(old) - 'invoice_id' then
        raise exception 'accrual_entry is append-only';
      end if;
      if not exists (select 1 from accrual_entry e where e.reservation_id = new.reservation_id and e.kind = 'final') then
        raise exception 'accrual entry % is provisional, so no invoice can have it', new.seq;
      end if;
      return new;
    end $$;
    create trigger accrual_entry_guard before update on accrual_entry for each row execute function guard_accrual_entry();
    create trigger accrual_entry_append_only before delete or truncate on accrual_entry
      for each statement execute function refuse_change();

    -- Whoever reserves, reprices, settles or refunds on account and forgets the entry cannot commit.
    create function require_accrued() returns trigger language plpgsql as $$
    declare
      spend reservation;
      accrued bigint;
      is_final boolean;
    begin
      select * into spend from reservation where id = (to_jsonb(new) ->> tg_argv[0])::uuid;
      select coalesce(sum(credits), 0), coalesce(bool_or(kind = 'final'), false) into accrued, is_final
        from accrual_entry where reservation_id = spend.id;
      if spend.mode <> 'enterprise' or is_final <> (spend.state <> 'live')
        or accrued <> (case spend.state when 'live' then spend.credits else spend.captured_credits - spend.refunded_credits end) then
        raise exception 'the accrual entries of reservation % do not add up to what it owes', spend.id;
      end if;
      return null;
    end $$;
    create constraint trigger reservation_accrued
      after insert or update of mode, state, credits, captured_credits, refunded_credits on reservation
      deferrable initially deferred for each row when (new.mode = 'enterprise') execute function require_accrued('id');
    create constraint trigger accrual_entry_adds_up after insert on accrual_entry
      deferrable initially deferred for each row execute function require_accrued('reservation_id');
  `.execute(db)
}
