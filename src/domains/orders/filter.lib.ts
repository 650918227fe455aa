import { isUuid } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import * as project from '#model/identity/project.ts'
import type { DecisionFilter } from '#model/orders/study.ts'

interface Given {
  id?: string | null
  workspaceId?: string | null
  orderId?: string | null
  decision?: string | null
}

/** What is no id of ours is nobody's. */
const NOBODYS = '00000000-0000-0000-0000-000000000000'
export const idOrNobodys = (given: string | null | undefined): string | null => (given == null ? null : isUuid(given) ? given : NOBODYS)

/** Studies and quotations of orders in private projects are seen by those who see the project. */
export async function filterOf(
  db: Parameters<typeof project.hiddenFrom>[0],
  principal: Principal,
  { id, workspaceId, orderId, decision }: Given,
  isReady = false,
): Promise<DecisionFilter> {
  return {
    id: idOrNobodys(id),
    projectId: idOrNobodys(workspaceId),
    orderId: idOrNobodys(orderId),
    decision: decision ?? null,
    isReady,
    hiddenProjects: await project.hiddenFrom(db, principal),
  }
}
