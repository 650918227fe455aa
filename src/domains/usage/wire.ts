import Type from 'typebox'
import type { UsagePoint } from '#model/plans/usage-report.ts'

export const meters = {
  storage_bytes: Type.Integer({ description: 'Storage use in bytes' }),
  egress_bytes: Type.Integer({ description: 'Bytes downloaded' }),
  tiles: Type.Integer({ description: 'Tiles rendered' }),
  compute_jobs: Type.Integer({ description: 'Number of clip jobs' }),
  processing_jobs: Type.Integer({
    description: 'Number of processing jobs, without clip jobs',
  }),
  api_calls: Type.Integer({ description: 'API calls, including refused ones' }),
}

export function toMeters({ storageBytes, egressBytes, tiles, computeJobs, processingJobs, apiCalls }: UsagePoint) {
  return {
    storage_bytes: storageBytes,
    egress_bytes: egressBytes,
    tiles,
    compute_jobs: computeJobs,
    processing_jobs: processingJobs,
    api_calls: apiCalls,
  }
}

/** For the reference. */
export const EXAMPLE_METERS = {
  storage_bytes: 734_003_200,
  egress_bytes: 1_468_006_400,
  tiles: 5_210,
  compute_jobs: 2,
  processing_jobs: 5,
  api_calls: 8_431,
}
