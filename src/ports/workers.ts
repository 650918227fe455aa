/** An external worker from the configuration: a program elsewhere that polls for jobs. */
interface RegisteredWorker {
  readonly name: string
  /** Job types that it can claim. */
  readonly jobTypes: readonly string[]
}

export interface Workers {
  /** Whether external workers run jobs of this type. */
  handles(jobType: string): boolean
  /** The worker that has this secret; null if there is none. */
  identify(secret: string): RegisteredWorker | null
}

export const NO_WORKERS: Workers = { handles: () => false, identify: () => null }
