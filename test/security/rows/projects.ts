import type { Org, World } from '../../support/world.ts'
import { colleague, otherProject, project } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, NOBODY, READS_A_PROJECT, READS_OWN } from '../statuses.ts'

const withMember = async (w: World, org: Org) => {
  const { project_id } = await project(w, org)
  const user_id = await colleague(w, org)
  await w.ok(org.owner.token, 'projects.add_member', { project_id, user_id, role: 'viewer' })
  return { project_id, user_id }
}

export const rows: Rows = {
  'projects.add_member': {
    ...CHANGES_A_PROJECT,
    a: CHANGES_A_PROJECT.a.replace('| 403 200 403 |', '| 403 403 403 |'), // The email becomes an invitation, which no key can send.
    input: async (w, org) => ({ ...(await project(w, org)), email: 'invited@example.com' }),
    missing: otherProject,
    breaks: 'table invitation',
  },
  'projects.archive': { ...CHANGES_A_PROJECT, input: project, missing: otherProject, breaks: 'column project.updated_at' },
  'projects.create': {
    input: () => ({ name: 'x' }),
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 200 403`,
    breaks: 'table lineage_node',
  },
  'projects.delete': { ...CHANGES_A_PROJECT, input: project, missing: otherProject, breaks: 'table invitation' },
  'projects.get': { ...READS_A_PROJECT, input: project, missing: otherProject, breaks: 'table project_member' },
  'projects.list': { ...READS_OWN, input: () => ({}), breaks: 'table project' },
  'projects.remove_member': { ...CHANGES_A_PROJECT, input: withMember, missing: otherProject, breaks: 'table project_member' },
  'projects.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await project(w, org)), name: 'Renamed' }),
    missing: otherProject,
    breaks: 'column project.updated_at',
  },
  'projects.update_member': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await withMember(w, org)), role: 'editor' }),
    missing: otherProject,
    breaks: 'table project_member',
  },
}
