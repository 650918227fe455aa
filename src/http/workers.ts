import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Defaulted } from '#core/shapes.ts'
import { validateInput } from '#core/validate.ts'
import type { SignInPlatform } from '#access/sign-in.ts'
import { claimJob, signOutput } from '#background/worker-api.ts'
import type { Platform } from '#pipeline/platform.ts'
import { parseBody } from './body.ts'
import { credentialOf } from './credential.ts'
import { abortedWith } from './operations.ts'

const MAX_WAIT_SECONDS = 25
const ClaimInput = Closed({
  job_types: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 100, description: 'Job types to claim' }),
  ),
  wait_seconds: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS }), 0, {
    description: 'Maximum time to wait for a job, in seconds',
  }),
})
const OutputInput = Closed({
  content_type: Defaulted(Type.String({ minLength: 1, maxLength: 200 }), 'image/tiff', { description: 'Media type of the output' }),
})

interface WorkerParts {
  platform: Platform
  auth: SignInPlatform
}

/** `/workers/claim` for registered external workers, and URLs for their outputs. */
export function registerWorkers(app: FastifyInstance, { platform, auth: { tokens } }: WorkerParts): void {
  const bodyOf = (request: { body: unknown; headers: Record<string, unknown> }) =>
    parseBody(
      request.body as Buffer | undefined,
      request.headers['content-type'] as string | undefined,
      request.headers['content-encoding'] as string | undefined,
    )
  app.post('/workers/claim', async (request, reply) => {
    const secret = credentialOf(request)?.secret ?? ''
    const { job_types, wait_seconds } = validateInput(ClaimInput, bodyOf(request)) as Static<typeof ClaimInput>
    const signal = abortedWith(reply)
    const claimed = await claimJob(platform, tokens, { secret, jobTypes: job_types ?? null, waitSeconds: wait_seconds ?? 0, signal })
    reply.header('Cache-Control', 'no-store')
    return claimed ?? reply.code(204).send()
  })
  app.post<{ Params: { jobId: string; name: string } }>('/workers/jobs/:jobId/outputs/:name', async (request, reply) => {
    const token = credentialOf(request)?.secret
    if (!token)
      throw problem('unauthorized', 'Send the job token as a bearer token', { headers: { 'WWW-Authenticate': 'Bearer realm="workers"' } })
    const { content_type } = validateInput(OutputInput, bodyOf(request)) as Static<typeof OutputInput>
    reply.header('Cache-Control', 'no-store')
    return await signOutput(platform, tokens, { token, jobId: request.params.jobId, name: request.params.name, contentType: content_type! })
  })
}
