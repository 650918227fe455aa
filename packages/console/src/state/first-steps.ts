/** The first steps of an organization. What is done is read from the data; only the dismissal is kept, in this browser. */
import { useOp } from '../api/query.ts'
import { createStore } from '../store.ts'
import { useProjects, useWho } from './who.ts'

export type FirstStep = 'organization' | 'project' | 'imagery' | 'upload' | 'invitation' | 'key'

const STALE_MS = 30_000

/** IDs of organizations whose checklist was dismissed. */
const dismissed = createStore<readonly string[]>([], {
  key: 'gt-first-steps-dismissed',
  read: (text) => JSON.parse(text) as string[],
  write: JSON.stringify,
})

interface FirstSteps {
  /** Undefined until it is known. */
  done: ReadonlySet<FirstStep> | undefined
  /** Those that the signed-in user can do. */
  steps: readonly FirstStep[]
  isDismissed: boolean
  setDismissed(isDismissed: boolean): void
}

/** After the dismissal nothing is requested for it, except on its own screen. */
export function useFirstSteps(isOwnScreen: boolean): FirstSteps {
  const { isAdmin, organizationId } = useWho()
  const ids = dismissed.use()
  const isDismissed = ids.includes(organizationId)
  const enabled = isOwnScreen || !isDismissed
  const projects = useProjects()
  const members = useOp('organizations.members.list', { organizationId }, { enabled: enabled && isAdmin, staleTime: STALE_MS })
  const keys = useOp('api_keys.list', {}, { enabled, staleTime: STALE_MS })
  const list = projects.data?.projects
  const isKnown = list !== undefined && (members.data !== undefined || !isAdmin) && keys.data !== undefined
  const isStepDone: Readonly<Record<FirstStep, boolean>> = {
    organization: true,
    project: (list?.length ?? 0) > 0,
    imagery: list?.some(({ item_count }) => item_count > 0) ?? false,
    upload: list?.some(({ item_count }) => item_count > 0) ?? false,
    invitation: (members.data?.members.length ?? 0) > 1,
    key: (keys.data?.length ?? 0) > 0,
  }
  const steps = STEPS.filter((step) => isAdmin || step !== 'invitation')
  return {
    done: isKnown ? new Set(steps.filter((step) => isStepDone[step])) : undefined,
    steps,
    isDismissed,
    setDismissed: (isNowDismissed) => {
      const others = ids.filter((id) => id !== organizationId)
      dismissed.set(isNowDismissed ? [...others, organizationId] : others)
    },
  }
}

const STEPS: readonly FirstStep[] = ['organization', 'project', 'imagery', 'upload', 'invitation', 'key']
