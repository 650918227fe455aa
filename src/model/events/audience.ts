/**
 * Who may be told of an event: for statements over an event `e` (or what has its `project_id`) and a watcher `w`, a
 * subscription or an alert rule, with the person in `user_id` whose rights count. The rule is that of
 * `project.mayRead`, and whoever has left the organization reads nothing of it; a watcher without a person is the
 * organization's own.
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
