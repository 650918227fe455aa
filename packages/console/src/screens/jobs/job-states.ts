/** Words for the states of jobs, and names of processes. */
import type { ProcessingJob } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Tone } from '../../ui/kit.ts'

export type Status = ProcessingJob['status']

export const SAID: Readonly<Record<Status, { text: string; tone: Tone }>> = {
  pending: { text: 'Waits to be started', tone: 'warn' },
  dispatched: { text: 'Waits for its turn', tone: 'info' },
  running: { text: 'Running', tone: 'info' },
  completed: { text: 'Done', tone: 'ok' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: '' },
}
export const isUnderWay = ({ status }: Pick<ProcessingJob, 'status'>) => ['pending', 'dispatched', 'running'].includes(status)

export const useProcessNames = () => {
  const processes = useOp('processing.catalog.list', {}, { staleTime: 300_000 })
  return (id: string) => processes.data?.processes.find((process) => process.id === id)?.title ?? id.replaceAll('_', ' ')
}
