/** The signed-in user and their permissions, so that no action is shown that would be refused. */
import { useMe, useOp } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import type { Project } from '../api/contract.ts'

interface Who {
  name: string
  email: string
  userId: string
  organizationId: string
  organizationName: string
  role: 'owner' | 'admin' | 'member'
  /** Owners and admins: money, members, every project. */
  isAdmin: boolean
  /** The operator has let the user use its clip areas, and delete jobs. */
  canClipAreas: boolean
}

export function useWho(): Who {
  const { user, organizationId } = useSession()
  const me = useMe()
  const organization = me.data?.organizations.find(({ id }) => id === organizationId)
  const role = organization?.role ?? 'member'
  return {
    name: user?.name ?? '',
    email: user?.email ?? '',
    userId: user?.id ?? '',
    organizationId: organizationId ?? '',
    organizationName: organization?.name ?? 'Organization',
    role,
    isAdmin: role !== 'member',
    canClipAreas: me.data?.can_clip_areas ?? false,
  }
}

export const mayWrite = (who: Who, project: Pick<Project, 'role' | 'is_archived'> | null | undefined) =>
  project != null && !project.is_archived && (who.isAdmin || project.role === 'admin' || project.role === 'editor')

export const mayManage = (who: Who, project: Pick<Project, 'role'> | null | undefined) =>
  project != null && (who.isAdmin || project.role === 'admin')

const MAX_PROJECTS = 100

/** Projects of the current organization. The service also lists those that the user was invited to in others. */
export function useProjects() {
  const { organizationId } = useSession()
  return useOp(
    'projects.list',
    { limit: MAX_PROJECTS },
    {
      staleTime: 30_000,
      select: (data) => {
        const projects = data.projects.filter(({ organization_id }) => organization_id === organizationId)
        return { ...data, projects, total: data.total - (data.projects.length - projects.length) }
      },
    },
  )
}

/** Projects that the signed-in user can add items to. */
export function useWritableProjects() {
  const who = useWho()
  const projects = useProjects()
  return { writable: (projects.data?.projects ?? []).filter((project) => mayWrite(who, project)), isPending: projects.isPending }
}

/** Alerts and webhooks belong to the organization: everyone who can edit one of its projects can change them. */
export function useMayManageAlerts(): boolean {
  const who = useWho()
  const projects = useProjects()
  return who.isAdmin || (projects.data?.projects ?? []).some(({ role }) => role === 'admin' || role === 'editor')
}
