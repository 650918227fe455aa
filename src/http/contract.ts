import type { FastifyInstance } from 'fastify'
import type { Platform } from '#pipeline/platform.ts'
import { publicDocument, sendDocument, type PublicDocument } from './limits.ts'
import { openApiDocument } from './openapi.ts'

/** `/openapi.json`, generated at the first request. */
export function registerContract(app: FastifyInstance, { platform }: { platform: Platform }): void {
  let document: PublicDocument | null = null
  app.get('/openapi.json', async (request, reply) => {
    document ??= publicDocument(openApiDocument(platform.operations, platform.baseUrl()))
    return sendDocument(request, reply, document)
  })
}
