import { isUuid } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import type { DecisionFilter } from '#model/orders/study.ts'

interface Given {
  id?: string | null
  workspaceId?: string | null
  orderId?: string | null
}

/** One decision, or several with commas between; 422 for what is none. */
export function decisionsOf(given: string | null | undefined, known: readonly string[]): string[] | null {
  if (given == null) return null
  const wanted = given.split(',').map((part) => part.trim())
  if (!wanted.every((one) => known.includes(one))) throw invalidField('decision', `must be one of ${known.join(', ')}`)
  return wanted
}

/** What is no id of ours is nobody's. */
const NOBODYS = '00000000-0000-0000-0000-000000000000'
export const idOrNobodys = (given: string | null | undefined): string | null => (given == null ? null : isUuid(given) ? given : NOBODYS)

/** Studies and quotations of orders in private projects are seen by those who see the project. */
export async function filterOf(
  db: Parameters<typeof projects.hiddenFrom>[0],
  principal: Principal,
  { id, workspaceId, orderId }: Given,
  { decisions, isReady }: { decisions: readonly string[] | null; isReady: boolean },
): Promise<DecisionFilter> {
  return {
    id: idOrNobodys(id),
    projectId: idOrNobodys(workspaceId),
    orderId: idOrNobodys(orderId),
    decisions,
    isReady,
    hiddenProjects: await projects.hiddenFrom(db, principal),
  }
}
