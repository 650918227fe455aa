import type { Order } from '../../api/contract.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'

export function useMayDecide(order: Order): boolean {
  const who = useWho()
  const projects = useProjects()
  return mayWrite(
    who,
    projects.data?.projects.find(({ id }) => id === order.projectId),
  )
}
