/**
 * Who can receive an event: SQL for an event `e` (or any row with a `project_id`) and a watcher `w`, a subscription or an alert rule,
 * whose `user_id` is the user whose access counts. The rule is that of `project.mayRead`; users who left the organization cannot read
 * anything of it, and a watcher without a user belongs to the organization.
 */
import { sql } from 'kysely'

export const RIGHTS = sql`
  left join project on project.id = e.project_id
  left join organization_member on organization_member.org_id = w.org_id and organization_member.user_id = w.user_id
  left join project_member on project_member.project_id = e.project_id and project_member.user_id = w.user_id
`

export const mayRead = sql<boolean>`(
  w.user_id is null or project_member.role is not null or organization_member.role in ('owner', 'admin')
  or organization_member.role is not null and (e.project_id is null or project.visibility <> 'private')
)`
