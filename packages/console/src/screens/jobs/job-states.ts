/** Words for the states of jobs, and names of processes. */
import type { ProcessingJob } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import type { Tone } from '../../ui/kit.ts'

export type Status = ProcessingJob['status']

export const SAID: Readonly<Record<Status, { text: string; tone: Tone }>> = {
  pending: { text: 'Queued', tone: 'warn' },
  dispatched: { text: 'Waiting for a worker', tone: 'info' },
  running: { text: 'Running', tone: 'info' },
  completed: { text: 'Done', tone: 'ok' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: '' },
}
export const isUnderWay = ({ status }: Pick<ProcessingJob, 'status'>) => ['pending', 'dispatched', 'running'].includes(status)

const useProcesses = () => useOp('processing.catalog.list', {}, { staleTime: 300_000 }).data?.processes ?? []

export const useProcessNames = () => {
  const processes = useProcesses()
  return (id: string) => processes.find((process) => process.id === id)?.title ?? id.replaceAll('_', ' ')
}

/** A copy of a scene is known by the scene. */
export const jobName = ({ input_params, job_type_id }: ProcessingJob, nameOf: (id: string) => string): string =>
  String(input_params['output_name'] ?? input_params['scene_id'] ?? nameOf(job_type_id))

/** Whether its form can start a job of this process again. */
export const useCanRunAgain = (id: string): boolean => useProcesses().some((process) => process.id === id && process.created_by === null)
