/** Workers from outside: programs elsewhere that ask for jobs, known by configuration. */
interface RegisteredWorker {
  readonly name: string
  /** What it may ask for. */
  readonly jobTypes: readonly string[]
}

export interface Workers {
  /** Whether jobs of this type are left to workers from outside. */
  serve(jobType: string): boolean
  /** Whose secret this is; null where it is nobody's. */
  identify(secret: string): RegisteredWorker | null
}

export const NO_WORKERS: Workers = { serve: () => false, identify: () => null }
