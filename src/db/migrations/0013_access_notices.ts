import { sql, type Kysely } from 'kysely'

/**
 * Notifications when access rights change, because processes cache them for a moment: see src/db/notices.ts. And rate-limit leases: see
 * src/model/platform/rate-window.ts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function tell_access_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('groundtrack_access', '');
      return null;
    end $$;

    -- Statements, not rows: one that changes a thousand rows tells once. Counters of use are in the same tables and tell nothing.
    create trigger access_changed after delete or update of is_active, permissions, explicit_scopes, rate_limit_per_hour, expires_at
      on api_key for each statement execute function tell_access_changed();
    create trigger access_changed after delete or update of ended_at, expires_at
      on user_session for each statement execute function tell_access_changed();
    create trigger access_changed after delete or update of is_active, is_system_admin, is_clip_user
      on app_user for each statement execute function tell_access_changed();
    create trigger access_changed after insert or delete or update
      on organization_member for each statement execute function tell_access_changed();
    create trigger access_changed after delete or update of rate_limit_per_hour
      on organization for each statement execute function tell_access_changed();
    create trigger access_changed after insert or delete or update
      on project_member for each statement execute function tell_access_changed();
    create trigger access_changed after delete or update of visibility, deleted_at
      on project for each statement execute function tell_access_changed();

    -- Counts requests of subjects, which come sorted, and lends for more: a share of what is left, so that near the limit nothing
    -- is lent. A request above the limit counts for nothing.
    create function take_of_rate(
      subjects text[], counts bigint[], limits bigint[], seconds integer[], most_lent bigint[], share bigint, at timestamptz
    ) returns table (subject text, started_at timestamptz, before bigint, lent bigint) language plpgsql as $$
    #variable_conflict use_column
    declare
      held rate_window;
      taken bigint;
    begin
      for i in 1 .. cardinality(subjects) loop
        insert into rate_window as r (subject, started_at, used) values (subjects[i], at, 0) on conflict (subject) do nothing;
        select * into held from rate_window r where r.subject = subjects[i] for update;
        if held.started_at <= at - make_interval(secs => seconds[i]) then
          held.started_at := at;
          held.used := 0;
        end if;
        take_of_rate.subject := held.subject;
        take_of_rate.started_at := held.started_at;
        take_of_rate.before := held.used;
        taken := held.used + greatest(0, least(counts[i], limits[i] - held.used));
        take_of_rate.lent := greatest(0, least(most_lent[i], (limits[i] - taken) / share));
        update rate_window r set started_at = held.started_at, used = taken + take_of_rate.lent where r.subject = subjects[i];
        return next;
      end loop;
    end $$;
  `.execute(db)
}
