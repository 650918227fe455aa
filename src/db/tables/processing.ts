import type { JobResponse, JobStatus } from '#core/vocabulary.ts'
import type { Generated, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

export interface ProcessingTables {
  processing_job: {
    id: string
    org_id: string
    project_id: string
    job_type: string
    version: Generated<string>
    status: Generated<JobStatus>
    input_params: JSONColumnType<Json>
    target_collection_id: string | null
    source_item_ids: Generated<string[]>
    reserved_credits: number
    reserved_bytes: Generated<number>
    captured_credits: number | null
    output_item_ids: Generated<string[]>
    output_artifacts: JSONColumnType<Json> | null
    error: string | null
    progress: Generated<number>
    stage: Generated<string>
    timeout_seconds: number
    response: Generated<JobResponse>
    requested_outputs: string[] | null
    created_by: string | null
    api_key_id: string | null
    run_id: string | null
    worker: string | null
    attempts: Generated<number>
    heartbeat_at: Date | null
    created_at: Date
    updated_at: Date
    dispatched_at: Date | null
    started_at: Date | null
    completed_at: Date | null
  }
  job_step: {
    org_id: string
    job_id: string
    step: number
    request: JSONColumnType<Json>
    digest: string
    created_at: Date
  }
  job_part: {
    org_id: string
    job_id: string
    step: number
    phase: number
    number: number
    from_row: number
    to_row: number
    state: Generated<'waiting' | 'running' | 'done' | 'failed'>
    run_id: string | null
    attempts: Generated<number>
    started_at: Date | null
    heartbeat_at: Date | null
    result: JSONColumnType<Json> | null
    error: string | null
  }
  kept_file: {
    id: string
    org_id: string
    bucket: string
    object_key: string
    size_bytes: number
    look: JSONColumnType<{ projectIds: string[]; band: number; colormap: string; range: [number, number] }> | null
    created_at: Date
    expires_at: Date
  }
}
