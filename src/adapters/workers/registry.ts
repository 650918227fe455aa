/** The file of external workers: which jobs each can claim, and the digest of its secret. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import Type, { type Static } from 'typebox'
import { Closed } from '#core/shapes.ts'
import { examine } from '#core/validate.ts'
import { NO_WORKERS, type Workers } from '#ports/workers.ts'

const WorkersFile = Type.Array(
  Closed({
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Worker name' }),
    job_types: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, description: 'Job types the worker can claim' }),
    secret_sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the secret, in lower-case hexadecimal' }),
  }),
  { maxItems: 1_000 },
)

const SECRET = /^wrk_[\x21-\x7e]{16,200}$/

export class WorkersError extends Error {}

/** Null: there are no external workers. `known` are the existing job types. */
export async function readWorkers(path: string | null, known: readonly string[]): Promise<Workers> {
  if (path === null) return NO_WORKERS
  const text = await readFile(path, 'utf8').catch(() => {
    throw new WorkersError(`cannot read ${path}`)
  })
  return workersOf(parsed(text), known)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new WorkersError('not valid JSON')
  }
}

export function workersOf(given: unknown, known: readonly string[]): Workers {
  const { value, errors } = examine(WorkersFile, given)
  if (errors.length > 0) throw new WorkersError(`${errors[0]!.field || 'the file'} ${errors[0]!.message}`)
  const list = value as Static<typeof WorkersFile>
  const strange = list.flatMap(({ job_types }) => job_types).find((type) => !known.includes(type))
  if (strange !== undefined) throw new WorkersError(`unknown job type '${strange}'`)
  const registered = list.map(({ name, job_types, secret_sha256 }) => ({
    name,
    jobTypes: job_types,
    digest: Buffer.from(secret_sha256, 'hex'),
  }))
  const served = new Set(list.flatMap(({ job_types }) => job_types))
  return {
    handles: (jobType) => served.has(jobType),
    identify(secret) {
      if (!SECRET.test(secret)) return null
      const digest = createHash('sha256').update(secret).digest()
      return registered.find((worker) => timingSafeEqual(worker.digest, digest)) ?? null
    },
  }
}
